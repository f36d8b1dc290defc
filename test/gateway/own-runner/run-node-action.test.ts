/** Actions of which Node executes scripts. */

import t from 'tap'
import { jobOf, ranTask, writeStep } from '../../helpers/ran-task.js'

const SHOW = `
inputs: { my name: { default: "\${{ github.job }}" }, Level: { default: 1 }, with-sign: { default: "'" } }
runs: { using: node20, main: dist/show.js }
`
const SHOW_SCRIPT = `
const { env } = process
for (const name of Object.keys(env).sort()) {
  if (/^(INPUT_|ACTIONS_|GITHUB_ACTION_?|RUNNER_TOOL|GITHUB_RET)/.test(name)) {
    console.log(name + '=' + env[name].replace(/.*gatehouse-task-\\w+/, 'TASK'))
  }
}
console.log(process.cwd().replace(/.*gatehouse-task-\\w+/, 'TASK'), process.version)
require('fs').appendFileSync(env.GITHUB_OUTPUT, 'made=' + env['INPUT_LEVEL'])
`

t.test('a script has inputs and services as variables, and sets outputs', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      writeStep({ 'show/action.yml': SHOW, 'show/dist/show.js': SHOW_SCRIPT }),
      'id: show\nuses: ./show\nwith: {level: "${{ 1 + 1 }}"}'.replace('1 + 1', "format('{0}', 2)"),
      'run: echo "made ${{ steps.show.outputs.made }}, $ACTIONS_RUNTIME_URL$INPUT_LEVEL"',
    ),
    { context: { gitea_runtime_token: 'runtime-token', retention_days: '90' } },
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.strictSame(stub.rows.slice(2), [
    `ACTIONS_RESULTS_URL=${stub.address}/`,
    'ACTIONS_RUNTIME_TOKEN=***',
    `ACTIONS_RUNTIME_URL=${stub.address}/api/actions_pipeline/`,
    'GITHUB_ACTION=show',
    'GITHUB_ACTIONS=true',
    'GITHUB_ACTION_PATH=TASK/workspace/show',
    'GITHUB_ACTION_REF=',
    'GITHUB_ACTION_REPOSITORY=',
    'GITHUB_RETENTION_DAYS=90',
    'INPUT_LEVEL=2',
    'INPUT_MY_NAME=build',
    "INPUT_WITH-SIGN='",
    'RUNNER_TOOL_CACHE=TASK/tools',
    `TASK/workspace ${process.version}`,
    'Run echo "made 2, $ACTIONS_RUNTIME_URL$INPUT_LEVEL"',
    'made 2, ',
  ])
})
