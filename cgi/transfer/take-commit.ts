/** Copies a commit and its history from one local repository into another. */

import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../conf/failures.js'
import { syncPath, unlessMissing, unlessMissingSync } from '../../conf/lib/disk.js'
import { type Journal, recordWriter } from '../maintenance/journal.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import { type Quarantine, withQuarantine } from '../repository/quarantine.js'
import { walk } from '../repository/walk.js'

export interface TakenCommit {
  /** Path of the repository that has the commit. */
  readonly source: string
  /** Full id of the commit. */
  readonly commit: string
  /** Maximum size of the pack, checked every 250 ms while git writes it. */
  readonly packBytesMax: number
  readonly timeoutMs: number
  readonly journal: Journal
  readonly signal?: AbortSignal | undefined
}

/** Settings for a fetch from a local path, whose objects were checked when they were pushed. */
const CONFIG = [['fetch.fsckObjects', 'false'] as const, ['protocol.file.allow', 'always'] as const]

const FETCH = [
  'fetch',
  '--quiet',
  '--no-write-fetch-head',
  '--no-tags',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--end-of-options',
]

/**
 * Copies the objects of the commit that the repository at `path` lacks: all of them, flushed to
 * disk, or none. No ref is changed. Throws `payload_too_large` if the pack exceeds `packBytesMax`.
 */
export async function copyCommit(git: Git, path: string, taken: TakenCommit): Promise<void> {
  await withQuarantine(path, async (quarantine) => {
    await fetchInto(git, path, { ...taken, quarantine })
    await keepPacks(path, quarantine.folder)
  })
}

async function fetchInto(
  git: Git,
  path: string,
  { quarantine, ...taken }: TakenCommit & { readonly quarantine: Quarantine },
): Promise<void> {
  const { source, commit, packBytesMax, timeoutMs, signal, journal } = taken
  const words = [...FETCH, source, fullId(commit)]
  const running = await startGit(git, 'fetch', [git.file, ...words], {
    cwd: path,
    environment: {
      ...gitEnvironment(git, { config: CONFIG }),
      ...quarantine.variables,
    },
    timeoutMs,
    signal,
  })
  const strike = await recordWriter(journal, path, running)
  running.input.end()
  let isTooLarge = false
  const checkSize = async () => {
    isTooLarge ||= (await bytesIn(quarantine.folder)) > packBytesMax
    if (isTooLarge) running.kill()
  }
  const timer = setInterval(() => void checkSize().catch(() => {}), CHECK_INTERVAL_MS)
  try {
    for await (const _ of running.output) {
      // The output is empty.
    }
  } catch {
    // An ended process is handled below.
  }
  const end = await running.ended
  clearInterval(timer)
  await strike()
  await checkSize()
  signal?.throwIfAborted()
  if (isTooLarge) throw new Failure('payload_too_large', TOO_LARGE)
  if (end.exitCode !== 0) throw gitError('fetch', end)
}

const TOO_LARGE = 'The new commits of the branch are larger than the limit of a push.'

/** Interval at which the size of the growing pack is checked. */
const CHECK_INTERVAL_MS = 250

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for await (const { path, isFolder } of walk(folder)) {
    if (!isFolder) bytes += (await unlessMissing(stat(path)))?.size ?? 0
  }
  return bytes
}

/**
 * Moves the packs of another object directory into the repository at `path`. Indexes are moved
 * last, because git uses a pack as soon as its index exists.
 */
export async function keepPacks(path: string, quarantine: string): Promise<void> {
  const from = join(quarantine, 'pack')
  const names = unlessMissingSync(() => readdirSync(from)) ?? []
  if (names.length === 0) return
  const to = join(path, 'objects', 'pack')
  const isNew = mkdirSync(to, { recursive: true }) !== undefined
  const isIndex = (name: string) => name.endsWith('.idx')
  for (const name of [...names.filter((each) => !isIndex(each)), ...names.filter(isIndex)]) {
    // Git before 2.36 flushes packs but not their indexes.
    if (isIndex(name)) await syncPath(join(from, name))
    renameSync(join(from, name), join(to, name))
  }
  await syncPath(to)
  if (isNew) await syncPath(join(path, 'objects'))
}
