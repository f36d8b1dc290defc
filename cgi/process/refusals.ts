/** Work that exceeded a limit of git: from then on it is refused without starting git. */

import { LRUCache } from 'lru-cache'
import { Failure, type FailureName } from '../../conf/failures.js'

/** Refusals of one process. */
const REFUSALS_MAX = 5_000

/**
 * How long the failures of a limit are remembered: limits may be raised, and a machine that is busy
 * may have time soon. Other failures, such as a full disk, may be gone at the next attempt.
 */
const REMEMBERED_MS: Readonly<Partial<Record<FailureName, number>>> = {
  payload_too_large: 3_600_000,
  unavailable: 300_000,
}

const known = new LRUCache<string, Pick<Failure, 'failure' | 'message'>>({ max: REFUSALS_MAX })

/**
 * Returns the key of work on the repository at `path`. The words say which work, with the full ids
 * of its objects, so that its result never changes.
 */
export function refusalKey(path: string, words: readonly string[]): string {
  return [path, ...words].join('\0')
}

/** Returns why the work was refused before; undefined if it was not. */
export function findRefusal(key: string): Failure | undefined {
  const refusal = known.get(key)
  return refusal && new Failure(refusal.failure, refusal.message)
}

/** Throws the Failure with which the work was refused before. */
export function throwIfRefused(key: string): void {
  const refusal = findRefusal(key)
  if (refusal !== undefined) throw refusal
}

/** Does the work, and remembers a Failure of a limit that it throws. */
export async function rememberRefusal<T>(key: string, work: () => Promise<T>): Promise<T> {
  throwIfRefused(key)
  try {
    return await work()
  } catch (error) {
    remember(key, error)
    throw error
  }
}

/** The same for work whose result is read in chunks. Each caller has its own chunks. */
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
