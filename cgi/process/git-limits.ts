/** Resource limits of git processes (setrlimit(2)), by the kind of their work. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../conf/failures.js'
import type { ProcessEnd } from './run.js'

/** Timeout of a short git command, such as init, rev-parse or a small fast-import. */
export const GIT_COMMAND_MS = 30_000

/** Memory limit of a git process if no setting is read; equals the default of `git.memory_max`. */
export const GIT_MEMORY_BYTES_MAX = 536_870_912

/** Maximum size of the output of a short git command. */
export const GIT_OUTPUT_BYTES_MAX = 16_777_216

/** Timeout of the copy of a repository for a fork or from a template. */
export const REPOSITORY_COPY_MS = 1_200_000

/** Timeout of one step of upkeep; less than CRASH_GRACE_MS. */
export const MAINTENANCE_STEP_MS = 2_700_000

/** The kind of work of a git process. */
export type GitWork = 'read' | 'merge' | 'download' | 'fetch' | 'push' | 'upkeep' | 'import'

interface Limits {
  /** Memory in multiples of `git.memory_max`. */
  readonly memoryShares: number
  readonly cpuSeconds: number
}

/**
 * Limits of each kind of work. They apply to each process separately, and its children inherit
 * them. In a push only index-pack needs much memory, and in a fetch only pack-objects, so a request
 * needs little more than one limit. A push has half the memory of readers, so that every pushed
 * object can be read again. Upkeep and imports have more, because few of them run concurrently and
 * they work on whole repositories.
 */
const LIMITS: Readonly<Record<GitWork, Limits>> = {
  read: { memoryShares: 1, cpuSeconds: 30 },
  merge: { memoryShares: 1, cpuSeconds: 15 },
  download: { memoryShares: 1, cpuSeconds: 900 },
  fetch: { memoryShares: 1, cpuSeconds: 3_600 },
  push: { memoryShares: 0.5, cpuSeconds: 3_600 },
  upkeep: { memoryShares: 4, cpuSeconds: 3_600 },
  import: { memoryShares: 4, cpuSeconds: 3_600 },
}

/** The limiter of git processes on this machine. */
export interface GitLimiter {
  /** Absolute path of prlimit(1); undefined: processes have no limits but time. */
  readonly prlimit: string | undefined
  /** The setting `git.memory_max`. */
  readonly memoryBytesMax: number
}

/** A program and its arguments. */
export type Command = readonly [file: string, ...args: string[]]

/** CPU seconds between the signal SIGXCPU, which names the cause, and SIGKILL. */
const CPU_GRACE_SECONDS = 5

/**
 * Returns the command that runs `command` under the limits of its work. prlimit(1) replaces itself
 * by the program, so the process id stays the same.
 *
 * Memory is limited by RLIMIT_DATA: private memory that can be written. Packs are mapped read-only
 * and do not count.
 */
export function limitedCommand(limiter: GitLimiter, work: GitWork, command: Command): Command {
  const { prlimit, memoryBytesMax } = limiter
  if (prlimit === undefined) return command
  const { memoryShares, cpuSeconds } = LIMITS[work]
  return [
    prlimit,
    `--data=${Math.floor(memoryShares * memoryBytesMax)}`,
    `--cpu=${cpuSeconds}:${cpuSeconds + CPU_GRACE_SECONDS}`,
    '--',
    ...command,
  ]
}

/** Returns the path of prlimit(1), which is part of util-linux; undefined if there is none. */
export function findPrlimit(folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, 'prlimit')).find((path) => existsSync(path))
}

/** Messages of git, zlib and the C library about memory that could not be allocated. */
const OUT_OF_MEMORY = /out of memory|cannot allocate memory|unable to create thread/i

/** Signals that end a process after a stack overflow or an unchecked failed allocation. */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT'])

/**
 * Returns the Failure of a process that reached a limit; undefined if it ended in another way. A
 * repeated request would exceed memory and CPU time again (`payload_too_large`); a timeout may be
 * due to a busy machine (`unavailable`).
 */
export function limitFailure(end: ProcessEnd): Failure | undefined {
  const { signal, timedOut, errorText } = end
  if (timedOut) return new Failure('unavailable', 'Git took too long. Try again later.')
  const limit = exceeded(signal, errorText)
  if (limit === undefined) return undefined
  return new Failure('payload_too_large', `Git needs more ${limit} for this than its limit.`)
}

function exceeded(signal: string | undefined, errorText: string): string | undefined {
  if (signal === 'SIGXCPU') return 'CPU time'
  if (signal !== undefined && CRASHES.has(signal)) return 'memory'
  return OUT_OF_MEMORY.test(errorText) ? 'memory' : undefined
}
