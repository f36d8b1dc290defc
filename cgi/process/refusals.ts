/** Memory of work that exceeded a limit of git, which is then refused without starting git. */

import { LRUCache } from 'lru-cache'
import { Failure, type FailureName } from '../../conf/failures.js'

/** Maximum number of remembered refusals of this process. */
const REFUSALS_MAX = 5_000

/**
 * Milliseconds for which failures of a limit are remembered: limits may be raised, and a busy
 * machine may soon be idle. Other failures, such as a full disk, are not remembered.
 */
const REMEMBERED_MS: Readonly<Partial<Record<FailureName, number>>> = {
  payload_too_large: 3_600_000,
  unavailable: 300_000,
}

const known = new LRUCache<string, Pick<Failure, 'failure' | 'message'>>({ max: REFUSALS_MAX })

/**
 * Returns the key of work on the repository at `path`. The words name the work and the full ids of
 * its objects, so that its result never changes.
 */
export function refusalKey(path: string, words: readonly string[]): string {
  return [path, ...words].join('\0')
}

/** Returns the Failure with which the work was refused before; undefined if it was not. */
export function findRefusal(key: string): Failure | undefined {
  const refusal = known.get(key)
  return refusal && new Failure(refusal.failure, refusal.message)
}

/** Throws the Failure with which the work was refused before. */
export function throwIfRefused(key: string): void {
  const refusal = findRefusal(key)
  if (refusal !== undefined) throw refusal
}

/** Runs the work, and remembers a Failure of a limit that it throws. */
export async function rememberRefusal<T>(key: string, work: () => Promise<T>): Promise<T> {
  throwIfRefused(key)
  try {
    return await work()
  } catch (error) {
    remember(key, error)
    throw error
  }
}

/** Yields the chunks, and remembers a Failure of a limit that they throw. */
export async function* rememberingChunks(
  key: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    remember(key, error)
    throw error
  }
}

function remember(key: string, error: unknown): void {
  if (!(error instanceof Failure)) return
  const { failure, message } = error
  const ttl = REMEMBERED_MS[failure]
  if (ttl !== undefined) known.set(key, { failure, message }, { ttl })
}
