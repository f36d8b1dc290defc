/** The built-in checkout, with git's own server. */

import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { searchPath } from '../../../conf/load.js'
import { startBubblewrap } from '../../../gateway/own-runner/bubblewrap.js'
import { NO_ISOLATION } from '../../../gateway/own-runner/isolation.js'
import { jobOf, ranTask } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const TOKEN = 'job-token-0123456789abcdef'

/** Starts the stub with a repository of three commits, a branch `work` and a tag `v1`. */
async function stubWithRepository(t: Test, isolation = NO_ISOLATION) {
  const repositories = await temporaryFolder(t)
  const folder = join(repositories, 'ada/tool.git')
  await mkdir(folder, { recursive: true })
  const work = await temporaryFolder(t)
  const git = async (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    const { stdout } = await promisify(execFile)('git', [...identity, ...args], { cwd: work })
    return stdout.trim()
  }
  await git('init', '-q', '-b', 'main')
  const commits: string[] = []
  for (const name of ['one', 'two', 'three']) {
    await writeFile(join(work, name), `${name}\n`)
    await git('add', '.')
    await git('commit', '-q', '-m', `Add ${name}`)
    commits.push(await git('rev-parse', 'HEAD'))
    if (name === 'one') await git('tag', 'v1')
    if (name === 'two') await git('branch', 'work')
  }
  await git('clone', '-q', '--bare', work, folder)
  const stub = await stubRunnerServer(t, { repositories })
  const [, second = ''] = commits
  const run = (...steps: readonly string[]) =>
    ranTask(t, jobOf(...steps), { stub, isolation, context: { token: TOKEN, sha: second } })
  return { stub, run, commits }
}

t.test("the task's commit is checked out, alone and without the token", async (t) => {
  const { run, stub, commits } = await stubWithRepository(t)
  const { result } = await run(
    'uses: actions/checkout@v4',
    'run: |\n  ls\n  git rev-parse HEAD\n  git rev-list --count HEAD\n  grep -rc . .git/config\n  ! grep -ri "extraheader\\|authorization" .git',
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  t.match(stub.rows, [
    'Run actions/checkout@v4',
    /built into this runner/,
    `Fetching ${commits[1]} of ${stub.address}/ada/tool.git`,
    `${commits[1]} Add two`,
    'Run ls',
    'one',
    'two',
    commits[1],
    '1',
  ])
  t.strictSame([...stub.gitCredentials], [`x-access-token:${TOKEN}`])
  t.notMatch(stub.rows.join('\n'), TOKEN)
})

t.test('inputs choose ref, depth, folder, repository and token', async (t) => {
  const { run, stub, commits } = await stubWithRepository(t)
  const { result } = await run(
    'uses: https://example.org/actions/checkout@main\nwith: {ref: v1, path: tagged, clean: true}',
    'uses: actions/checkout@v4\nwith: {ref: work, fetch-depth: 0, path: all}',
    'uses: actions/checkout@v4\nwith: {fetch-depth: 2, repository: ada/tool, token: other-token-1}',
    'run: |\n  git -C tagged rev-parse HEAD\n  git -C all rev-list --count HEAD\n  git -C all branch -r\n  git -C all tag\n  git rev-list --count HEAD',
  )
  t.equal(result, 'SUCCESS', stub.rows.join('\n'))
  const at = stub.rows.indexOf(commits[0] ?? '')
  const branches = ['  origin/main', '  origin/work']
  t.strictSame(stub.rows.slice(at), [commits[0], '2', ...branches, 'v1', '2'])
  t.ok(stub.gitCredentials.has('x-access-token:other-token-1'))
  t.ok(stub.rows.includes("The input 'clean' of actions/checkout is ignored by this runner."))
})

t.test('an isolated checkout writes nothing outside the folder of the task', async (t) => {
  const workFolder = await temporaryFolder(t)
  const isolation = await startBubblewrap({ searchPath: searchPath(), workFolder, hidden: [] })
  const { run, stub } = await stubWithRepository(t, isolation)
  const checkedOut = await run(
    'uses: actions/checkout@v4\nwith: {path: a/deep/folder}',
    'run: ls a/deep/folder',
  )
  t.equal(checkedOut.result, 'SUCCESS', stub.rows.join('\n'))
  t.strictSame(stub.rows.slice(-2), ['one', 'two'])
  const { result } = await run(
    `run: ln -s ${workFolder} link`,
    'uses: actions/checkout@v4\nwith: {path: link/new}',
  )
  t.equal(result, 'FAILURE')
  t.strictSame(await readdir(workFolder), [])
})

t.test('malformed inputs and missing refs fail the step', async (t) => {
  const { run, stub } = await stubWithRepository(t)
  const rows: ReadonlyArray<readonly [inputs: string, sentence: string]> = [
    ['repository: ../../etc/x', "the repository '../../etc/x' is not OWNER/NAME"],
    ['ref: --upload-pack=touch', "the ref '--upload-pack=touch' is malformed"],
    ['ref: "a:refs/heads/b"', "the ref 'a:refs/heads/b' is malformed"],
    ['path: ../outside', "the path '../outside' is outside the workspace"],
    ['fetch-depth: some', "the fetch-depth 'some' is not a number"],
    ['submodules: recursive', 'submodules of actions/checkout are not supported'],
    ['ref: missing', "fatal: couldn't find remote ref missing"],
  ]
  for (const [inputs, sentence] of rows) {
    const { result } = await run(`uses: actions/checkout@v4\nwith: {${inputs}}`)
    t.equal(result, 'FAILURE', inputs)
    t.match(stub.rows.at(-1), sentence)
    stub.rows.length = 0
  }
})
