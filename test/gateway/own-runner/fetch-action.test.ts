/** Actions in repositories of the server, with git's own server. */

import t, { type Test } from 'tap'
import { addActionRepository } from '../../helpers/action-repositories.js'
import { jobOf, ranTask, writeStep } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const TOKEN = 'job-token-0123456789abcdef'

const WHERE = `
runs:
  using: composite
  steps:
    - shell: sh
      run: |
        echo "$GITHUB_ACTION_REPOSITORY at $GITHUB_ACTION_REF in $(basename $GITHUB_ACTION_PATH)"
        echo "\${{ github.action_repository }} at \${{ github.action_ref }}"
        git -C "$GITHUB_ACTION_PATH" log --format=%s
        ! grep -ri authorization "$GITHUB_ACTION_PATH/.git"
`

async function stubWithActions(t: Test) {
  const repositories = await temporaryFolder(t)
  const nested = 'runs: {using: composite, steps: [{uses: actions/where/sub@v1}]}'
  const name = 'actions/where'
  const files = { 'action.yml': WHERE, 'sub/action.yaml': WHERE, 'nested/action.yml': nested }
  const commit = await addActionRepository(t, { repositories, name, files })
  const stub = await stubRunnerServer(t, { repositories })
  const run = (...steps: readonly string[]) =>
    ranTask(t, jobOf(...steps), {
      stub,
      context: { token: TOKEN, server_url: 'https://c.example' },
    })
  return { stub, run, commit }
}

t.test('an action is fetched with the job token by tag, branch and commit', async (t) => {
  const { stub, run, commit } = await stubWithActions(t)
  for (const [ref, subject] of [
    ['v1', 'Add an action'],
    ['main', 'Change nothing'],
    [commit, 'Change nothing'],
  ]) {
    stub.rows.length = 0
    const { result } = await run(`uses: actions/where@${ref}`)
    t.equal(result, 'SUCCESS', stub.rows.join('\n'))
    t.strictSame(stub.rows.slice(1, 2), [`Fetching the action actions/where@${ref}`])
    t.strictSame(stub.rows.slice(3), [
      `actions/where at ${ref} in action-1`,
      `actions/where at ${ref}`,
      subject,
    ])
  }
  t.strictSame([...stub.gitCredentials], [`x-access-token:${TOKEN}`])
})

t.test('a repository and ref is fetched once in a job, for all its actions', async (t) => {
  const { stub, run } = await stubWithActions(t)
  const { result } = await run(
    'uses: actions/where/nested@v1',
    `uses: ${stub.address}/actions/where/sub@v1`,
    'uses: https://c.example/actions/where@v1',
    'run: ls $GITHUB_WORKSPACE/.. | grep action',
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.equal(stub.rows.filter((row) => row.startsWith('Fetching')).length, 1)
  const at = stub.rows.filter((row) => / in [\w-]+$/.test(row))
  t.strictSame(at, [
    'actions/where at v1 in sub',
    'actions/where at v1 in sub',
    'actions/where at v1 in action-1',
  ])
  t.equal(stub.rows.at(-1), 'action-1')
})

t.test('an action that is not on the server fails its step with advice', async (t) => {
  const { stub, run } = await stubWithActions(t)
  const advice = 'mirror its repository to this server and use OWNER/NAME@REF'
  const write = writeStep({ 'action.yml': 'runs: {using: composite, steps: [{uses: ./x}]}' })
  for (const [uses, sentence] of [
    ['actions/missing@v1', `actions/missing@v1 was not fetched from this server; if it is one`],
    ['actions/where@v2', 'actions/where@v2 was not fetched from this server; if it is one of'],
    ['https://github.com/actions/cache@v4', `cache@v4' is on another server; ${advice}`],
    ['https://c.example.org/actions/where@v1', "where@v1' is on another server"],
    ['actions/where/none@v1', "'actions/where/none@v1' has no file action.yml or action.yaml."],
    ['actions/where/../workspace@v1', "workspace@v1' is outside the repository"],
    [
      'docker://debian',
      "'docker://debian' is not supported by this runner: only jobs have containers",
    ],
  ] as const) {
    stub.rows.length = 0
    const { result } = await run(write, `uses: ${uses}`)
    t.equal(result, 'FAILURE', uses)
    t.match(stub.rows.at(-1), sentence)
  }
})
