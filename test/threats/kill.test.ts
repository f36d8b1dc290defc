/** Threat: acknowledged pushes are lost if the server is killed, or locks remain. */

import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { freshLocation } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { type GitClientResult, git, tryGit } from '../helpers/git-client.js'
import { repositoriesIn } from '../helpers/repositories.js'
import { killServer, listStaleFilesIn, until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const ROUNDS: Readonly<Record<DatabaseLocation['kind'], number>> = isFullSize
  ? { sqlite: 100, mysql: 20 }
  : { sqlite: 3, mysql: 1 }

/** Number of pushes that run when the server is killed, each to its own branches. */
const PUSHES = 3
const BRANCHES = 8
const LARGE_BYTES = 4_000_000
/** Time to remove the stale files of interrupted pushes, and the journal entry of the last push. */
const RECOVERED_WITHIN_MS = 60_000
/** Upper bound of the delay before a kill: about the duration of one push. */
const KILLED_WITHIN_MS = 900

for (const kind of ['sqlite', 'mysql'] as const) {
  t.test(`acknowledged pushes survive kill -9 of the server, on ${kind}`, async (t) => {
    const location = await freshLocation(t, kind)
    const gatehouse = await startGatehouse(t, { location, isOnDisk: true })
    const ada = await gatehouse.addUser('ada')
    t.equal((await ada.api('POST', '/user/repos', { name: 'library' })).status, 201)
    const folder = await temporaryFolder(t)
    await git(['init', '--quiet'], { cwd: folder })
    const scene: Scene = { gatehouse, ada, folder, path: await onlyRepository(gatehouse) }
    let acknowledged = 0
    for (let round = 0; round < ROUNDS[kind]; round += 1) {
      acknowledged += await playRound(t, scene, round)
    }
    t.comment(`${acknowledged} of ${ROUNDS[kind] * PUSHES} pushes were acknowledged before a kill`)
    t.equal(
      await git(['fsck', '--full', '--no-dangling'], { cwd: scene.path }),
      '',
      'git fsck is clean',
    )
    const staleFiles = await until(
      () => listStaleFilesIn(gatehouse.dataDir),
      (left) => left.length === 0,
      RECOVERED_WITHIN_MS,
    )
    t.strictSame(staleFiles, [], 'no file of the interrupted pushes is left')
  })
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  /** Path of the local repository in which commits are made. */
  readonly folder: string
  /** Path of the repository on the server's disk. */
  readonly path: string
}

/** Kills the server during pushes, restarts it, pushes again; returns the acknowledged pushes. */
async function playRound(t: Test, scene: Scene, round: number): Promise<number> {
  const { gatehouse } = scene
  const sizeBytes = round % 3 === 2 ? LARGE_BYTES : 1_000
  const commits = await Promise.all(
    Array.from({ length: PUSHES }, () => makeCommit(scene.folder, sizeBytes)),
  )
  const pushes = commits.map((commit, index) => push(scene, commit, index))
  await sleep(randomInt(KILLED_WITHIN_MS))
  await killServer(gatehouse, { withGit: round % 2 === 1 })
  await gatehouse.start()
  const results = await Promise.all(pushes)
  const refs = await git(['for-each-ref', '--format=%(objectname) %(refname)'], { cwd: scene.path })
  const done = results.flatMap(({ exitCode }, index) => (exitCode === 0 ? [index] : []))
  for (const index of done) {
    const missing = branchesOf(index).filter((name) => !refs.includes(`${commits[index]} ${name}`))
    t.strictSame(missing, [], `round ${round}: an acknowledged push survives`)
  }
  const again = await makeCommit(scene.folder, 1_000)
  for (let index = 0; index < PUSHES; index += 1) {
    const { exitCode, errorText } = await push(scene, again, index)
    t.equal(exitCode, 0, `round ${round}: the next push to the same branches succeeds ${errorText}`)
  }
  const complaint = await git(['fsck', '--connectivity-only', '--no-dangling'], { cwd: scene.path })
  t.equal(complaint, '', `round ${round}: git fsck is clean`)
  return done.length
}

const branchesOf = (index: number) =>
  Array.from({ length: BRANCHES }, (_, branch) => `refs/heads/push-${index}/branch-${branch}`)

function push({ ada, folder }: Scene, commit: string, index: number): Promise<GitClientResult> {
  const targets = branchesOf(index).map((name) => `+${commit}:${name}`)
  return tryGit(['push', '--quiet', ada.remote('ada/library.git'), ...targets], { cwd: folder })
}

/** Creates a root commit with one file of incompressible bytes. */
async function makeCommit(cwd: string, sizeBytes: number): Promise<string> {
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: randomBytes(sizeBytes) })
  const tree = await git(['mktree'], { cwd, input: `100644 blob ${blob}\tfile\n` })
  return await git(['commit-tree', tree, '-m', 'A commit'], { cwd })
}

async function onlyRepository({ dataDir }: Gatehouse): Promise<string> {
  const [path, ...others] = await repositoriesIn(dataDir)
  if (path === undefined || others.length > 0)
    throw new Error('the server does not have exactly one repository')
  return path
}
