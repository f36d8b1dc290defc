/** Threat: a push of many refs is applied in part if server and git are killed during it. */

import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as eventLoopTick, setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import type { JournalEntry } from '../../cgi/maintenance/journal.js'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { freshLocation } from '../helpers/databases.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { faultsOnDisk, repositoriesIn } from '../helpers/repositories.js'
import { killNow, listStaleFilesIn, until, workersOf } from '../helpers/server-processes.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const REFS = 40
/** Number of pushes that are killed: after a random ref changed; at full size also at any time. */
const ROUNDS = isFullSize ? 75 : 2
/** Number of pushes at most, if none of the first was partly applied: a busy machine is late. */
const ROUNDS_MAX = 4 * ROUNDS
const KILLED_WITHIN_MS = 150
const RECOVERED_WITHIN_MS = 60_000

interface Scene {
  readonly gatehouse: Gatehouse
  /** Path of the local repository in which commits are made. */
  readonly folder: string
  /** Path of the repository on the server's disk. */
  readonly path: string
  readonly remote: string
  readonly environment: Readonly<Record<string, string>>
}

const SURFACES = { HTTPS: overHttps, SSH: overSsh }

for (const [surface, start] of Object.entries(SURFACES)) {
  for (const kind of ['sqlite', 'mysql'] as const) {
    if (!isFullSize && (surface === 'SSH' || kind === 'mysql')) continue
    t.test(`a killed push over ${surface} is applied whole or not at all, on ${kind}`, async (t) =>
      crashPushes(t, await start(t, kind)),
    )
  }
}

async function overHttps(t: Test, kind: DatabaseLocation['kind']): Promise<Scene> {
  const location = await freshLocation(t, kind)
  const gatehouse = await startGatehouse(t, { location, isOnDisk: true, workers: 1 })
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'library' })
  return sceneOf(t, gatehouse, { remote: ada.remote('ada/library.git'), environment: {} })
}

async function overSsh(t: Test, kind: DatabaseLocation['kind']): Promise<Scene> {
  const database = kind === 'mysql' ? { location: await freshLocation(t, kind) } : {}
  const { gatehouse, ...fixture } = await startSshGatehouse(t, { isOnDisk: true, ...database })
  const ada = await fixture.addPerson('ada')
  await ada.api('POST', '/user/repos', { name: 'library' })
  const { environment } = ada
  return sceneOf(t, gatehouse, { remote: fixture.remote('ada/library'), environment })
}

async function sceneOf(
  t: Test,
  gatehouse: Gatehouse,
  client: Pick<Scene, 'remote' | 'environment'>,
): Promise<Scene> {
  const folder = await temporaryFolder(t)
  await git(['init', '--quiet'], { cwd: folder })
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  return { gatehouse, folder, path, ...client }
}

async function crashPushes(t: Test, scene: Scene): Promise<void> {
  const counts = { killed: 0, partly: 0, whole: 0, acknowledged: 0 }
  for (let round = 0; round < ROUNDS || (counts.partly === 0 && round < ROUNDS_MAX); round += 1) {
    const isAtomic = round % 2 === 1
    const isAnyTime = isFullSize && round % 4 > 1
    await prepareRefs(t, scene)
    const { updates, before } = await chooseUpdates(scene)
    const pushing = push(scene, updates, { isAtomic })
    const left = await crash(scene, { before, pushing, isAnyTime })
    await scene.gatehouse.start()
    const { exitCode } = await pushing
    const after = refsOf(scene.path)
    const applied = countApplied(after, updates)
    const name = `round ${round}${isAtomic ? ', atomic' : ''}: ${countApplied(left, updates)} refs had changed`
    t.ok(
      applied === REFS || isSame(after, before),
      `${name}, and ${applied} of ${REFS} after recovery`,
    )
    if (exitCode === 0) t.equal(applied, REFS, `${name}: it was acknowledged`)
    counts.killed += 1
    counts.whole += applied === REFS ? 1 : 0
    counts.partly += isSame(left, before) || countApplied(left, updates) === REFS ? 0 : 1
    counts.acknowledged += exitCode === 0 ? 1 : 0
  }
  await prepareRefs(t, scene)
  t.comment(JSON.stringify(counts))
  t.ok(counts.partly > 0, 'some pushes were partly applied when they were killed')
  const staleFiles = await until(
    () => listStaleFilesIn(scene.gatehouse.dataDir),
    (found) => found.length === 0,
    RECOVERED_WITHIN_MS,
  )
  t.strictSame(staleFiles, [], 'no file of the pushes is left')
  t.strictSame(await faultsOnDisk(scene.gatehouse), [], 'git fsck finds nothing')
}

type Refs = ReadonlyMap<string, string>
/** New commit by branch; undefined for a deletion. */
type Updates = ReadonlyMap<string, string | undefined>

const BRANCHES = Array.from({ length: REFS }, (_, at) => `slot-${String(at).padStart(2, '0')}`)

/** Moves the branches to a new commit, and removes a quarter of them. */
async function prepareRefs(t: Test, scene: Scene): Promise<void> {
  const commit = await makeCommit(scene.folder)
  const there = refsOf(scene.path)
  const updates = BRANCHES.flatMap((name, at): [string, string | undefined][] => {
    if (at % 4 !== 1) return [[name, commit]]
    return there.has(name) ? [[name, undefined]] : []
  })
  const { exitCode, errorText } = await push(scene, new Map(updates), { isAtomic: false })
  t.equal(exitCode, 0, `the next push to the same refs succeeds ${errorText}`)
  t.equal(countApplied(refsOf(scene.path), new Map(updates)), updates.length)
  const isOver = (leader: number | undefined) => leader === undefined
  await until(async () => processGroupIn(scene.gatehouse.dataDir), isOver, RECOVERED_WITHIN_MS)
}

/** Chooses updates: one quarter of the branches is created, one deleted, the others updated. */
async function chooseUpdates(scene: Scene): Promise<{ updates: Updates; before: Refs }> {
  const commit = await makeCommit(scene.folder)
  const updates = BRANCHES.map((name, at) => [name, at % 4 === 2 ? undefined : commit] as const)
  return { updates: new Map(updates), before: refsOf(scene.path) }
}

async function makeCommit(cwd: string): Promise<string> {
  const tree = await git(['mktree'], { cwd, input: '' })
  return git(['commit-tree', tree, '-m', `Commit ${randomInt(1e12)}`], { cwd })
}

function push(scene: Scene, updates: Updates, { isAtomic }: { readonly isAtomic: boolean }) {
  const refs = [...updates].map(([name, commit]) => `+${commit ?? ''}:refs/heads/${name}`)
  const words = ['push', '--quiet', ...(isAtomic ? ['--atomic'] : []), scene.remote]
  const { folder: cwd, environment } = scene
  return tryGit([...words, ...refs.map((ref) => ref.replace('+:', ':'))], { cwd, environment })
}

interface Crash {
  readonly before: Refs
  readonly pushing: Promise<unknown>
  /** True to kill at a random time instead of when a certain ref has changed. */
  readonly isAnyTime: boolean
}

/** Kills git and the server together; returns the refs that are on the disk after that. */
async function crash(scene: Scene, { before, pushing, isAnyTime }: Crash): Promise<Refs> {
  const { pid, dataDir } = scene.gatehouse
  const servers = [pid, ...(await workersOf(pid))]
  let isOver = false
  void pushing.finally(() => {
    isOver = true
  })
  let leader = processGroupIn(dataDir)
  for (; leader === undefined && !isOver; leader = processGroupIn(dataDir)) await eventLoopTick()
  const chosen = BRANCHES[randomInt(REFS)] ?? ''
  const isApplied = () => refOf(scene.path, chosen) !== before.get(chosen)
  if (isAnyTime) await sleep(randomInt(KILLED_WITHIN_MS))
  // Polls without a pause for 20 ms at a time, because an atomic push takes less than 1 ms.
  while (!isAnyTime && !isOver && !isApplied()) {
    await eventLoopTick()
    const pauseAtMs = Date.now() + 20
    while (!isApplied() && Date.now() < pauseAtMs);
  }
  killNow(...(leader === undefined ? [] : [-leader]), ...servers)
  await scene.gatehouse.stop('SIGKILL')
  return refsOf(scene.path)
}

/** Returns the process group of the only push in the journal. */
function processGroupIn(dataDir: string): number | undefined {
  for (const name of readdirSync(join(dataDir, 'pushes'))) {
    if (!name.endsWith('.json')) continue
    // The entry is removed when the push is over.
    const text = unlessMissingSync(() => readlinkSync(join(dataDir, 'pushes', name)))
    if (text !== undefined) return (JSON.parse(text) as JournalEntry).leader.pid
  }
  return undefined
}

function refOf(path: string, name: string): string | undefined {
  try {
    return readFileSync(join(path, 'refs/heads', name), 'latin1').trim()
  } catch {
    return undefined
  }
}

/** Reads the branches, which are all loose refs because maintenance is off. */
function refsOf(path: string): Refs {
  const found = BRANCHES.map((name) => [name, refOf(path, name)] as const)
  return new Map(found.filter((each): each is [string, string] => each[1] !== undefined))
}

function countApplied(refs: Refs, updates: Updates): number {
  return [...updates].filter(([name, commit]) => refs.get(name) === commit).length
}

function isSame(one: Refs, other: Refs): boolean {
  return one.size === other.size && [...one].every(([name, id]) => other.get(name) === id)
}
