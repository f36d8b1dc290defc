/** A commit of one repository of this house brought into another, with all that it stands on. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath, unlessMissing } from '../conf/disk.js'
import { Failure } from '../conf/failures.js'
import { checkedId } from './commit-range.js'
import { firstLine, type Git, gitEnvironment } from './git.js'
import { type Journal, noteWriter } from './journal.js'
import { startProcess } from './run.js'
import { walk } from './walk.js'

export interface TakenCommit {
  /** The folder of the repository that has it. */
  readonly source: string
  /** Its full id. */
  readonly commit: string
  /** Of the pack that comes; about as many, since git is watched from outside. */
  readonly packBytesMax: number
  readonly timeoutMs: number
  readonly journal: Journal
  readonly signal?: AbortSignal | undefined
}

/** What the house itself has taken in is not checked again, and comes from a path. */
const CONFIG = [['fetch.fsckObjects', 'false'] as const, ['protocol.file.allow', 'always'] as const]

const FETCH = [
  ...['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-auto-maintenance'],
  ...['--no-recurse-submodules', '--end-of-options'],
]

/**
 * Brings what the repository at `path` lacks of the commit: whole, of its own and on the disk when
 * this settles, and nothing of it otherwise. No reference moves. Throws `payload_too_large`.
 */
export async function takeCommit(git: Git, path: string, taken: TakenCommit): Promise<void> {
  // By the name under which git itself keeps what it has not accepted yet, and the sweeper knows.
  const quarantine = join(path, 'objects', `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  await mkdir(quarantine)
  try {
    await fetchInto(git, path, { ...taken, quarantine })
    await keepPacks(path, quarantine)
  } finally {
    await rm(quarantine, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function fetchInto(
  git: Git,
  path: string,
  { quarantine, ...taken }: TakenCommit & { readonly quarantine: string },
): Promise<void> {
  const { source, commit, packBytesMax, timeoutMs, signal, journal } = taken
  const running = startProcess(git.file, [...FETCH, source, checkedId(commit)], {
    cwd: path,
    environment: {
      ...gitEnvironment(git, { config: CONFIG }),
      GIT_OBJECT_DIRECTORY: quarantine,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, 'objects'),
    },
    timeoutMs,
    signal,
  })
  const strike = await noteWriter(journal, path, running)
  running.input.end()
  let isTooLarge = false
  const look = async () => {
    isTooLarge ||= (await bytesIn(quarantine)) > packBytesMax
    if (isTooLarge) running.kill()
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS)
  try {
    for await (const _ of running.output) {
      // It says nothing.
    }
  } catch {
    // One that was ended tells below what came of it.
  }
  const { exitCode, errorText } = await running.ended
  clearInterval(timer)
  await strike()
  await look()
  signal?.throwIfAborted()
  if (isTooLarge) throw new Failure('payload_too_large', TOO_LARGE)
  if (exitCode !== 0) throw new Error(`git fetch failed (${exitCode}): ${firstLine(errorText)}`)
}

const TOO_LARGE = 'What the branch brings is more than one push may bring.'

/** How often the growing pack is looked at. */
const LOOK_EVERY_MS = 250

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for await (const { path, isFolder } of walk(folder)) {
    if (!isFolder) bytes += (await unlessMissing(stat(path)))?.size ?? 0
  }
  return bytes
}

/** A pack is there for git when its index is, which therefore comes last. */
async function keepPacks(path: string, quarantine: string): Promise<void> {
  const from = join(quarantine, 'pack')
  const names = (await unlessMissing(readdir(from))) ?? []
  if (names.length === 0) return
  const to = join(path, 'objects', 'pack')
  await mkdir(to, { recursive: true })
  const isIndex = (name: string) => name.endsWith('.idx')
  for (const name of [...names.filter((each) => !isIndex(each)), ...names.filter(isIndex)]) {
    // Git flushes both from 2.36 on, and packs alone before.
    await syncPath(join(from, name))
    await rename(join(from, name), join(to, name))
  }
  await syncPath(to)
  await syncPath(join(path, 'objects'))
}
