/** Permanent removal of unreachable objects, which is safe beside pushes and API writes. */

import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../conf/failures.js'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import type { Git } from '../process/git.js'
import { MAINTENANCE_STEP_MS } from '../process/git-limits.js'
import { gitRecords } from '../process/git-output.js'
import { syncTree } from '../repository/durable.js'
import { repositorySizeKib } from '../repository/repository.js'
import { keepPacks } from '../transfer/take-commit.js'
import { type JournalEntry, listJournalEntries } from './journal.js'
import {
  type MaintenanceOptions,
  repack,
  runStep,
  underMaintenanceLock,
  writeCommitGraph,
} from './maintenance.js'

export interface PruneOptions extends MaintenanceOptions {
  /** Folder with the journal of pushes. */
  readonly dataDir: string
  /** Unreachable objects that were written or used within this time are kept. */
  readonly graceMs: number
  /** Returns true while a backup copies repositories: it has read references before objects. */
  readonly isHeld: () => Promise<boolean>
}

/** Result of pruning a repository. */
export interface Pruned {
  /** Number of objects that were removed. */
  readonly removed: number
  readonly sizeKib: number
}

/** `git repack --expire-to`, which keeps the expired objects in a folder, exists from 2.39 on. */
const GIT_VERSION_MIN = [2, 39] as const

/** Throws `method_not_allowed` if git is too old to prune. */
export function refuseOldGit({ version }: Pick<Git, 'version'>): void {
  const [major, minor] = version
  if ((major - GIT_VERSION_MIN[0] || minor - GIT_VERSION_MIN[1]) >= 0) return
  const message = `Pruning needs git ${GIT_VERSION_MIN.join('.')} or later on the server; it has`
  throw new Failure('method_not_allowed', `${message} ${version.join('.')}.`)
}

/**
 * Removes the objects that no reference reaches and that are older than the grace period. It may be
 * killed at any instant without losing a reachable object:
 *
 * 1. One `git repack` writes the reachable objects, the young ones, and the expired ones into three
 *    packs. The pack of the expired ones is in a folder that git does not search for objects.
 * 2. Writers that began before then may still need an expired object, for example a push of a
 *    commit whose parent was removed while the client prepared it. This waits for their end.
 * 3. Git walks all references without the expired objects. If one is missing, all of them are put
 *    back, and this throws; else they are deleted.
 *
 * Throws `conflict` if the repository is being maintained or a backup runs, and an Error if writers
 * take too long: then the expired objects stay in the folder, and the next call resumes at step 2.
 */
export async function pruneRepository(
  git: Git,
  path: string,
  options: PruneOptions,
): Promise<Pruned> {
  refuseOldGit(git)
  await refuseHeld(options)
  const removed = await underMaintenanceLock(path, options.journal, async () => {
    await settleExpired(git, path, options)
    const expiresAtMs = await findExpiry(path, options)
    await mkdir(packsOf(expiredFolder(path)), { recursive: true })
    await repack(git, path, { ...options, strategy: strategyOf(path, expiresAtMs) })
    await syncTree(expiredFolder(path))
    const count = await removeLoose(git, path, expiresAtMs)
    await settleExpired(git, path, options)
    await writeCommitGraph(git, path, options)
    return count
  })
  return { removed, sizeKib: await repositorySizeKib(path) }
}

async function refuseHeld({ isHeld }: PruneOptions): Promise<void> {
  if (!(await isHeld())) return
  throw new Failure('conflict', 'A backup is running. Prune the repository when it has ended.')
}

/** Returns the folder of the expired objects, an object directory that git does not read. */
function expiredFolder(path: string): string {
  return join(path, 'objects', 'expired')
}

function packsOf(objects: string): string {
  return join(objects, 'pack')
}

function strategyOf(path: string, expiresAtMs: number): readonly string[] {
  return [
    '-a',
    '--cruft',
    `--cruft-expiration=@${Math.floor(expiresAtMs / 1_000)} +0000`,
    `--expire-to=${join(packsOf(expiredFolder(path)), 'pack')}`,
    '--write-midx',
    '--write-bitmap-index',
  ]
}

/** Tolerance for file times, which lag by a tick of the kernel; and git compares whole seconds. */
const CLOCK_GRAIN_MS = 2_000

/**
 * Returns the time of last use up to which unreachable objects expire. Objects of running writers
 * are younger. Objects written before the call are older, unless within the grace period.
 */
async function findExpiry(
  path: string,
  { dataDir, graceMs, signal }: PruneOptions,
): Promise<number> {
  const pauseMs = Math.max(0, CLOCK_GRAIN_MS + 1_000 - graceMs)
  await sleep(pauseMs, undefined, { signal })
  const startsMs = (await listWriters(dataDir, path)).map(({ startedAtMs }) => startedAtMs)
  const oldestMs = Math.min(Date.now(), ...startsMs) - CLOCK_GRAIN_MS
  return Math.max(0, Math.min(Date.now() - graceMs, oldestMs))
}

/**
 * Lists the running pushes and API writes of a repository, of all gateways. A killed one is listed
 * until crash recovery has finished it.
 */
async function listWriters(dataDir: string, path: string): Promise<readonly JournalEntry[]> {
  const pushes = [...(await listJournalEntries(dataDir)).values()]
  // Gateways of other machines may have the data folder under another name.
  const isHere = (push: JournalEntry) => basename(push.repositoryPath) === basename(path)
  return pushes.filter((push) => isHere(push) && push.isUpkeep !== true)
}

/**
 * Removes the loose copies of the expired objects. Returns how many objects have expired. A copy
 * that was written or used since is kept.
 */
async function removeLoose(git: Git, path: string, expiresAtMs: number): Promise<number> {
  const loose = await listLoose(path)
  let expired = 0
  for await (const id of gitRecords(git, LIST_OBJECTS, {
    cwd: path,
    separator: '\n',
    timeoutMs: MAINTENANCE_STEP_MS,
    environment: { GIT_OBJECT_DIRECTORY: expiredFolder(path) },
  })) {
    expired += 1
    if (!loose.has(id)) continue
    const file = join(path, 'objects', id.slice(0, 2), id.slice(2))
    const found = await unlessMissing(stat(file))
    if (found !== undefined && found.mtimeMs <= expiresAtMs) await rm(file, { force: true })
  }
  return expired
}

const LIST_OBJECTS = [
  'cat-file',
  '--batch-all-objects',
  '--unordered',
  '--batch-check=%(objectname)',
]

async function listLoose(path: string): Promise<ReadonlySet<string>> {
  const objects = join(path, 'objects')
  const loose = new Set<string>()
  for (const folder of await readdir(objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    const names = (await unlessMissing(readdir(join(objects, folder)))) ?? []
    for (const name of names) loose.add(folder + name)
  }
  return loose
}

/** Deletes the expired objects of this call or an earlier one, or puts them back: steps 2 and 3. */
async function settleExpired(git: Git, path: string, options: PruneOptions): Promise<void> {
  const folder = expiredFolder(path)
  const names = await unlessMissing(readdir(packsOf(folder)))
  if (names === undefined) return
  if (names.length > 0) {
    await awaitWriters(path, await noteHidden(folder), options)
    // The commit-graph may list commits that are missing now. It is rewritten at the end.
    await removeCommitGraph(path)
    try {
      await runStep(git, ['rev-list', '--objects', '--all', '--quiet'], { ...options, path })
    } catch (cause) {
      await keepPacks(path, folder)
      await removeFolder(path, folder)
      throw new Error('a push needed unreachable objects, which were put back', { cause })
    }
    // The walk has shown that no reference of now needs them, so no later backup does.
    await refuseHeld(options)
  }
  await removeFolder(path, folder)
}

/** Returns the time since which git does not find the expired objects. */
async function noteHidden(folder: string): Promise<number> {
  const note = join(folder, 'hidden')
  await writeFile(note, '', { flag: 'a' })
  return (await stat(note)).mtimeMs
}

/** Maximum wait for writers. A later call awaits those that take longer. */
const WRITERS_MS_MAX = 20_000
const POLL_INTERVAL_MS = 200

/** Waits for the writers that began before that time. Throws an Error if they take too long. */
async function awaitWriters(
  path: string,
  hiddenSinceMs: number,
  { dataDir, signal }: PruneOptions,
): Promise<void> {
  const deadlineMs = Date.now() + WRITERS_MS_MAX
  for (;;) {
    const writers = await listWriters(dataDir, path)
    if (writers.every(({ startedAtMs }) => startedAtMs > hiddenSinceMs + CLOCK_GRAIN_MS)) return
    if (Date.now() > deadlineMs) throw new Error('pushes that began earlier are still running')
    await sleep(POLL_INTERVAL_MS, undefined, { signal })
  }
}

async function removeCommitGraph(path: string): Promise<void> {
  const info = join(path, 'objects', 'info')
  for (const name of ['commit-graph', 'commit-graphs']) {
    await rm(join(info, name), { recursive: true, force: true })
  }
}

async function removeFolder(path: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await syncPath(join(path, 'objects'))
}
