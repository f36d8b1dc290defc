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
  const activities = await countActivities(scene)
  const pushes = commits.map((commit, index) => push(scene, commit, index))
  const often = pushOften(scene)
  await sleep(randomInt(KILLED_WITHIN_MS))
  await killServer(gatehouse, { withGit: round % 2 === 1 })
  await gatehouse.start()
  const results = await Promise.all(pushes)
  await checkOften(t, scene, { ...(await often), activities })
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

/** A branch that is moved by small pushes, which the gateway applies itself. */
const OFTEN = 'refs/heads/often'

/** Small pushes of a round. */
interface OftenPushed {
  /** The last commit that was acknowledged, and the one whose push was cut off. */
  readonly acknowledged: string | undefined
  readonly cutOff: string
  /** Number of acknowledged pushes. */
  readonly pushes: number
}

/** Pushes one commit after the other to the branch until the server is killed. */
async function pushOften(scene: Scene): Promise<OftenPushed> {
  const { ada, folder } = scene
  let acknowledged = await tipOf(scene)
  for (let pushes = 0; ; pushes += 1) {
    const next = await makeCommit(folder, 1_000, acknowledged)
    const args = ['push', '--quiet', ada.remote('ada/library.git'), `${next}:${OFTEN}`]
    const { exitCode } = await tryGit(args, { cwd: folder })
    if (exitCode !== 0) return { acknowledged, cutOff: next, pushes }
    acknowledged = next
  }
}

/** Checks that the branch has one of the two commits, and that the feed has gained each move. */
async function checkOften(
  t: Test,
  scene: Scene,
  pushed: OftenPushed & { readonly activities: number },
): Promise<void> {
  const tip = await tipOf(scene)
  const isMoved = tip === pushed.cutOff
  t.ok(isMoved || tip === pushed.acknowledged, 'a push that was cut off is applied or not')
  const expected = pushed.activities + pushed.pushes + (isMoved ? 1 : 0)
  const isWanted = (count: number) => count === expected
  const found = await until(() => countActivities(scene), isWanted, RECOVERED_WITHIN_MS)
  t.equal(found, expected, 'each applied push is in the feed')
}

async function tipOf({ path }: Scene): Promise<string | undefined> {
  const found = await tryGit(['rev-parse', '--verify', '--quiet', OFTEN], { cwd: path })
  return found.exitCode === 0 ? found.output : undefined
}

const PAGE = 50

/** Counts the activities of the branch. */
async function countActivities({ ada }: Scene): Promise<number> {
  let count = 0
  for (let page = 1; ; page += 1) {
    const query = `limit=${PAGE}&page=${page}`
    const { body } = await ada.api('GET', `/repos/ada/library/activities/feeds?${query}`)
    const found = body as ReadonlyArray<{ readonly ref_name: string }>
    count += found.filter(({ ref_name: name }) => name === OFTEN).length
    if (found.length < PAGE) return count
  }
}

/** Creates a commit with one file of incompressible bytes. */
async function makeCommit(cwd: string, sizeBytes: number, parent?: string): Promise<string> {
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: randomBytes(sizeBytes) })
  const tree = await git(['mktree'], { cwd, input: `100644 blob ${blob}\tfile\n` })
  const parents = parent === undefined ? [] : ['-p', parent]
  return await git(['commit-tree', tree, ...parents, '-m', 'A commit'], { cwd })
}

async function onlyRepository({ dataDir }: Gatehouse): Promise<string> {
  const [path, ...others] = await repositoriesIn(dataDir)
  if (path === undefined || others.length > 0)
    throw new Error('the server does not have exactly one repository')
  return path
}
