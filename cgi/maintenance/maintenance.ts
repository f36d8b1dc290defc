/** Upkeep of a repository: packs, bitmap and commit-graph, so that the next cold clone is cheap. */

import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/disk.js'
import { saysDiskIsFull } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'
import { MAINTENANCE_STEP_MS } from '../../conf/limits.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import { lowerPriority, UPKEEP_NICENESS } from '../process/priority.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { repositorySizeKib } from '../repository/repository.js'
import { walk } from '../repository/walk.js'
import { type Journal, recordWriter } from './journal.js'

/** What upkeep made of a repository. */
export interface Maintained {
  readonly packsBefore: number
  readonly packsAfter: number
  readonly sizeKib: number
}

export interface MaintenanceOptions {
  /** Lists the work while it runs, so that its stale files are removed after a crash. */
  readonly journal: Journal
  readonly signal?: AbortSignal | undefined
}

/** Fewer references are as quick to read loose, and the state of the repository stays the same. */
const LOOSE_REFERENCES_MIN = 32

/** Filters that one run computes at most; the next one goes on from there. */
const NEW_FILTERS_MAX = 20_000

/**
 * Brings a repository in order. Pushes and clones go on meanwhile, and no object is lost: what no
 * reference reaches is kept. It may be killed at any instant. Throws `conflict` when somebody does
 * the same there already.
 */
export async function maintainRepository(
  git: Git,
  path: string,
  { journal, signal }: MaintenanceOptions,
): Promise<Maintained> {
  const packsBefore = await countPacks(path)
  await underMaintenanceLock(path, journal, async () => {
    for (const step of STEPS) await step(git, path, { journal, signal })
  })
  return { packsBefore, packsAfter: await countPacks(path), sizeKib: await repositorySizeKib(path) }
}

/**
 * Runs `work` as the only upkeep of the repository. Throws `conflict` if another process maintains
 * or prunes it.
 */
export async function underMaintenanceLock<T>(
  path: string,
  journal: Journal,
  work: () => Promise<T>,
): Promise<T> {
  // Our own process is noted as well: it holds the lock between one git and the next.
  const strike = await journal.record({ repositoryPath: path, pid: process.pid, isUpkeep: true })
  try {
    const unlock = await lock(path)
    try {
      return await work()
    } finally {
      await unlock()
    }
  } finally {
    await strike()
  }
}

type Step = (git: Git, path: string, options: MaintenanceOptions) => Promise<void>

const STEPS: readonly Step[] = [packReferences, packObjects, writeCommitGraph]

/**
 * Git knows a `packed-refs` that was replaced by its inode, its size and the second of its time
 * (unless it was built otherwise): of two within a second, a push may take the first for the last.
 */
const PACKED_AGE_MS_MIN = 2_000

/** The references are in the file for good before the loose ones are taken away. */
async function packReferences(git: Git, path: string, options: MaintenanceOptions): Promise<void> {
  let loose = 0
  for await (const { isFolder } of walk(join(path, 'refs'))) if (!isFolder) loose += 1
  if (loose < LOOSE_REFERENCES_MIN) return
  const packed = await unlessMissing(stat(join(path, 'packed-refs')))
  if (packed !== undefined && Date.now() - packed.mtimeMs < PACKED_AGE_MS_MIN) return
  await runStep(git, ['pack-refs', '--all', '--no-prune'], { ...options, path })
  await syncPath(path)
  await runStep(git, ['pack-refs', '--all'], { ...options, path })
}

/** Git lists packs and references one after the other: a push between them spoils its bitmap. */
const REPACK_TRIES_MAX = 4

async function packObjects(git: Git, path: string, options: MaintenanceOptions): Promise<void> {
  await repack(git, path, { ...options, strategy: strategy(git) })
}

/** Repacks a repository by a strategy and flushes the names of its new packs. */
export async function repack(
  git: Git,
  path: string,
  { strategy, ...options }: MaintenanceOptions & { readonly strategy: readonly string[] },
): Promise<void> {
  const startedAtMs = Date.now()
  const args = ['repack', '-d', '-n', '--quiet', `--window=${WINDOW}`, ...strategy]
  for (let tries = 1; ; tries += 1) {
    try {
      await runStep(git, args, { ...options, path })
      break
    } catch (error) {
      const isSpoiled = error instanceof Error && SPOILED_BITMAP.test(error.message)
      if (!isSpoiled || tries === REPACK_TRIES_MAX) throw error
    }
  }
  await syncRepositoryNames(path, startedAtMs)
}

/** Git's own default: deltas are made here once, and sent with every clone. */
const WINDOW = 10

const SPOILED_BITMAP = /full closure/

/**
 * A geometric repack folds the small packs alone, so that a push to a large repository costs what
 * the push is worth; its bitmap goes with an index over several packs. Those indexes had defects
 * (git's release notes): orders that did not match their bitmap until 2.36, packs that vanished
 * under a reader until 2.37, another preferred pack until 2.38. Before, all goes into one pack.
 */
function strategy({ version: [major, minor] }: Git): readonly string[] {
  if (major > 2 || minor >= 38) return ['--geometric=2', '--write-midx', '--write-bitmap-index']
  return ['-a', '--keep-unreachable', '--write-bitmap-index']
}

/** Writes the commit-graph anew, of the commits that references reach. */
export async function writeCommitGraph(
  git: Git,
  path: string,
  options: MaintenanceOptions,
): Promise<void> {
  const filters = ['--changed-paths', `--max-new-filters=${NEW_FILTERS_MAX}`]
  await runStep(git, ['commit-graph', 'write', '--reachable', '--no-progress', ...filters], {
    ...options,
    path,
  })
  await syncPath(join(path, 'objects', 'info'))
}

/** The lock that `git maintenance run` takes, so that an administrator's does not meet ours. */
async function lock(path: string): Promise<() => Promise<void>> {
  const file = join(path, 'objects', 'maintenance.lock')
  let handle: FileHandle
  try {
    handle = await open(file, 'wx')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    throw new Failure('conflict', 'The repository is being maintained already.', { cause: error })
  }
  await handle.close()
  return () => rm(file, { force: true })
}

/** Runs git to its end. A git that was ended stays noted: it may have left something. */
export async function runStep(
  git: Git,
  args: readonly string[],
  { path, journal, signal }: MaintenanceOptions & { readonly path: string },
): Promise<void> {
  const running = startGit(git, 'upkeep', [git.file, ...args], {
    cwd: path,
    environment: gitEnvironment(git, { config: [['pack.threads', '1']] }),
    signal,
    timeoutMs: MAINTENANCE_STEP_MS,
  })
  lowerPriority(running.pid, UPKEEP_NICENESS)
  running.input.end()
  const strike = await recordWriter(journal, path, running)
  for await (const _ of running.output) {
    // What git says of its progress is nobody's concern, but a full pipe would stop it.
  }
  const end = await running.ended
  // Git leaves the pack behind for which there was no room: it stays noted until that is removed.
  if (end.exitCode === 0 || !saysDiskIsFull(end.errorText)) await strike()
  if (end.exitCode !== 0) throw gitError(args[0], end)
}

async function countPacks(path: string): Promise<number> {
  const names = await readdir(join(path, 'objects', 'pack'))
  return names.filter((name) => name.endsWith('.pack')).length
}
