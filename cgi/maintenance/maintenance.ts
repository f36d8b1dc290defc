/** Upkeep of a repository: packs, bitmap and commit-graph, which make clones cheap. */

import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { saysDiskIsFull } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import { MAINTENANCE_STEP_MS } from '../process/git-limits.js'
import { lowerPriority, UPKEEP_NICENESS } from '../process/priority.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { repositorySizeKib } from '../repository/repository.js'
import { walk } from '../repository/walk.js'
import { type Journal, recordWriter } from './journal.js'

/** Result of the upkeep of a repository. */
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

/** Fewer loose refs are not packed: packing would not help, and would change the state. */
const LOOSE_REFERENCES_MIN = 32

/** Maximum number of Bloom filters that one run computes; the next run continues. */
const NEW_FILTERS_MAX = 20_000

/**
 * Packs refs and objects and writes the commit-graph. Pushes and clones may run at the same time.
 * Unreachable objects are kept, and a kill at any instant loses none. Throws `conflict` if another
 * process maintains the repository.
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
  // This process holds the lock between two git processes, so it is in the journal too.
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
 * Minimum age of `packed-refs`. Git detects a replaced file by its inode, its size and its time in
 * seconds (by default), so a push may miss the second of two replacements within one second.
 */
const PACKED_AGE_MS_MIN = 2_000

/** Packs refs. `packed-refs` is flushed to disk before the loose refs are deleted. */
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

/** Attempts of a repack. Git lists packs, then refs; a push between the two breaks its bitmap. */
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

/** Size of the delta window: git's default. Deltas are computed once and sent with every clone. */
const WINDOW = 10

const SPOILED_BITMAP = /full closure/

/**
 * Returns the arguments of `git repack`. A geometric repack combines only small packs, so its cost
 * after a push depends on the push and not on the repository. It needs a bitmap of a multi-pack
 * index, which had bugs before git 2.38 (git's release notes): orders that did not match the bitmap
 * (fixed in 2.36), packs that vanished under a reader (2.37), another preferred pack (2.38). Older
 * versions repack everything into one pack.
 */
function strategy({ version: [major, minor] }: Git): readonly string[] {
  if (major > 2 || minor >= 38) return ['--geometric=2', '--write-midx', '--write-bitmap-index']
  return ['-a', '--keep-unreachable', '--write-bitmap-index']
}

/** Rewrites the commit-graph for the commits that refs reach. */
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

/** Takes the lock of `git maintenance run`, so that both never run concurrently. */
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

/** Runs git to its end. If it was ended, its journal entry stays: it may have left stale files. */
export async function runStep(
  git: Git,
  args: readonly string[],
  { path, journal, signal }: MaintenanceOptions & { readonly path: string },
): Promise<void> {
  const running = await startGit(git, 'upkeep', [git.file, ...args], {
    cwd: path,
    environment: gitEnvironment(git, { config: [['pack.threads', '1']] }),
    signal,
    timeoutMs: MAINTENANCE_STEP_MS,
  })
  lowerPriority(running.pid, UPKEEP_NICENESS)
  running.input.end()
  const strike = await recordWriter(journal, path, running)
  for await (const _ of running.output) {
    // The output is discarded, but it must be read: a full pipe would block git.
  }
  const end = await running.ended
  // On a full disk, git leaves a partial pack. The entry stays until recovery has removed it.
  if (end.exitCode === 0 || !saysDiskIsFull(end.errorText)) await strike()
  if (end.exitCode !== 0) throw gitError(args[0], end)
}

async function countPacks(path: string): Promise<number> {
  const names = await readdir(join(path, 'objects', 'pack'))
  return names.filter((name) => name.endsWith('.pack')).length
}
