/** Steps of a job: their environment, files, output and contexts. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { jobOf, ranTask } from '../../helpers/ran-task.js'

t.test('a failure is tolerated with continue-on-error, and shown in its outcome', async (t) => {
  const { result, stub } = await ranTask(
    t,
    jobOf(
      'run: exit 1\nid: first\ncontinue-on-error: true',
      'run: echo ${{ steps.first.outcome }} ${{ steps.first.conclusion }}',
    ),
  )
  t.equal(result, 'SUCCESS')
  t.match(stub.rows, ['Run exit 1', /status 1/, /^Run/, 'failure success'])
})

t.test('steps pass variables, outputs and programs to later steps and jobs', async (t) => {
  const { outputs, stub } = await ranTask(
    t,
    `env: {FROM: workflow, KEPT: "\${{ github.repository }}"}
jobs:
  build:
    env: {FROM: "job over \${{ env.FROM }}"}
    outputs: {made: "\${{ steps.first.outputs.made }}", hidden: "\${{ secrets.KEY }}"}
    defaults: {run: {working-directory: sub}}
    steps:
      - id: first
        working-directory: .
        run: |
          mkdir -p sub bin
          printf '#!/bin/sh\\necho tool in $(basename $PWD)\\n' > bin/mytool
          chmod +x bin/mytool
          echo "$PWD/bin" >> $GITHUB_PATH
          printf 'LATER<<E\\nx\\ny\\nE\\n' >> $GITHUB_ENV
          echo made=it >> $GITHUB_OUTPUT
          echo summary >> $GITHUB_STEP_SUMMARY
      - env: {FROM: "step over \${{ env.FROM }}"}
        run: |
          mytool
          echo "$FROM, $KEPT, $LATER"
      - run: echo $FROM
`,
    { secrets: { KEY: 'hidden-value' } },
  )
  t.match(stub.rows.slice(-6), [
    'tool in sub',
    'step over job over workflow, ada/tool, x',
    'y',
    'Run echo $FROM',
    'job over workflow',
    "The output 'hidden' is left out: it has a secret.",
  ])
  t.strictSame({ ...outputs }, { made: 'it' })
})

t.test('a step has the variables of the event, and no token and no other variables', async (t) => {
  const token = 'job-token-0123456789'
  const { stub, context } = await ranTask(
    t,
    jobOf('run: |\n  env | sort\n  cat $GITHUB_EVENT_PATH\n  echo; ls -d $HOME $RUNNER_TEMP'),
    {
      context: {
        token,
        sha: 'c0ffee',
        ref: 'refs/heads/main',
        ref_name: 'main',
        server_url: 'https://git.example.org',
        api_url: 'https://git.example.org/api/v1',
        run_id: '5',
        run_number: '2',
        actor: 'ada',
        event_name: 'push',
        workflow: 'Build',
      },
      secrets: { GITHUB_TOKEN: token },
    },
  )
  const rows = stub.rows.join('\n')
  for (const row of [
    'CI=true',
    'GITHUB_REPOSITORY=ada/tool',
    'GITHUB_SHA=c0ffee',
    'GITHUB_REF=refs/heads/main',
    'GITHUB_REF_NAME=main',
    'GITHUB_SERVER_URL=https://git.example.org',
    'GITHUB_API_URL=https://git.example.org/api/v1',
    'GITHUB_RUN_ID=5',
    'GITHUB_RUN_NUMBER=2',
    'GITHUB_ACTOR=ada',
    'GITHUB_EVENT_NAME=push',
    'GITHUB_WORKFLOW=Build',
    'GITHUB_JOB=build',
    'RUNNER_OS=Linux',
    `PATH=${context.searchPath}`,
    '{"after":"x"}',
  ]) {
    t.ok(stub.rows.includes(row), `${row} in ${rows}`)
  }
  t.match(rows, new RegExp(`\nHOME=${context.workFolder}/gatehouse-task-\\w+/home\n`))
  t.notMatch(rows, /\*\*\*|TAP=|_TOKEN/)
})

t.test('secrets and masked texts are not in the log, also in base64', async (t) => {
  const { stub } = await ranTask(
    t,
    jobOf(
      "run: |\n  echo ${{ secrets.KEY }} and $KEY\n  printf 'user:%s' $KEY | base64\nenv: {KEY: '${{ secrets.KEY }}'}",
      'run: echo ${{ github.gitea_runtime_token }}',
      'run: |\n  echo start\n  echo ::add-mask::later%0Asecond-line\n  echo it is later\n  echo second-line',
    ),
    {
      secrets: { KEY: 'top-secret-value', EMPTY: '' },
      context: { gitea_runtime_token: 'runtime-token' },
    },
  )
  const rows = stub.rows.join('\n')
  t.notMatch(rows, /top-secret|runtime-token|later|second-line/)
  t.match(rows, /\*\*\* and \*\*\*\n\w{0,8}\*\*\*/)
  t.match(rows, '::add-mask::***')
  t.match(rows, 'it is ***')
})

t.test('a process that a step leaves running does not delay the job', async (t) => {
  const startedAtMs = Date.now()
  const { result, stub } = await ranTask(
    t,
    jobOf('run: |\n  setsid sleep 60 &\n  sleep 0.5\n  echo $!'),
  )
  process.kill(Number(stub.rows[1]), 'SIGKILL')
  t.equal(result, 'SUCCESS')
  t.ok(Date.now() - startedAtMs < 30_000)
})

t.test('much output arrives completely, with lines of at most 64 KiB', async (t) => {
  const { stub } = await ranTask(
    t,
    jobOf('run: |\n  seq 1 50000\n  head -c 300000 /dev/zero | tr "\\\\0" x'),
  )
  t.equal(stub.rows.length, 50_002)
  t.equal(stub.rows[50_000], '50000')
  t.equal(stub.rows[50_001]?.length, 65_536)
})

t.test(
  'python, node, sh and bash run scripts, and bash fails with any part of a pipeline',
  async (t) => {
    const { stub } = await ranTask(
      t,
      jobOf(
        'run: print("from python")\nshell: python',
        'run: console.log("from node")\nshell: node',
        'run: echo "from sh ${BASH_VERSION:-without bash}"\nshell: sh',
        'run: echo "from ${BASH_VERSION:+bash}"; false | true; echo not reached',
      ),
    )
    t.match(stub.rows, [
      /^Run/,
      'from python',
      /^Run/,
      'from node',
      /^Run/,
      'from sh without bash',
      /^Run/,
      'from bash',
      'Error: the step exited with status 1.',
    ])
  },
)

t.test('contexts of the task are in expressions', async (t) => {
  const { stub } = await ranTask(
    t,
    `jobs:
  a:
    strategy: {matrix: {os: [linux], version: [3]}}
    steps:
      - run: echo "\${{ vars.V }} \${{ needs.b.result }} \${{ needs.b.outputs.o }} \${{ matrix.os }}
          \${{ matrix.version }} \${{ runner.os }} \${{ inputs.size }} \${{ strategy.job-total }}"
`,
    {
      vars: { V: 'variable' },
      needs: { b: { outputs: { o: 'out' }, result: Result.SUCCESS } },
      context: { event: { inputs: { size: 'big' } } },
    },
  )
  t.equal(stub.rows[1], 'variable success out linux 3 Linux big 1')
})

t.test('texts of a matrix are values, in which nothing is evaluated', async (t) => {
  const { stub } = await ranTask(
    t,
    `jobs:
  a:
    strategy: {matrix: {deep: [{list: ["\${{ '$' }}{{ vars.V }}"]}]}}
    steps:
      - run: echo '\${{ matrix.deep.list[0] }}'
`,
    { vars: { V: 'variable' } },
  )
  t.equal(stub.rows[1], '${{ vars.V }}')
})
