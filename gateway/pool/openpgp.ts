/** OpenPGP keys and signatures of users in a pool: their authors choose the cost. */

import { LRUCache } from 'lru-cache'
import { Failure } from '../../conf/failures.js'
import { entriesUpTo } from '../../conf/lib/entries-up-to.js'
import type {
  OpenpgpKey,
  OpenpgpSignature,
  OpenpgpVerdict,
  VerifyOpenpgpInput,
} from '../../registry/sign/openpgp-keys.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/** A signature of a Git object. */
export interface ObjectSignature extends OpenpgpSignature {
  /** Id of the signed object, which determines the signature and its payload. */
  readonly id: string
}

/** Keys of a user, with a text that is different for each set of keys. */
export interface KeySet {
  readonly ownerId: number
  readonly state: string
  /** Keys in base64. */
  readonly keys: readonly string[]
}

export interface Openpgp {
  /** Parses an armored key. Throws `invalid`, also if it takes too much time or memory. */
  readKey(armored: string, ownerId: number): Promise<OpenpgpKey>
  /** Verifies signatures without the cache. Throws `invalid` if they take too much time. */
  verifyText(input: VerifyOpenpgpInput, ownerId: number): Promise<readonly OpenpgpVerdict[]>
  /**
   * Returns the verdicts in the given order. A verdict is undefined if the pool was busy or the
   * verification took too much time.
   */
  verifyObjects(
    signatures: readonly ObjectSignature[],
    keySet: KeySet,
  ): Promise<ReadonlyArray<OpenpgpVerdict | undefined>>
}

/** Time limit of a task. A signature takes some milliseconds. */
const DEADLINE_MS = 3_000

/** Maximum number of cached verdicts. */
const KEPT_MAX = 50_000

const RETRY_AFTER_SECONDS = 10

/** Returns functions that run in the pool; verdicts about Git objects are cached. */
export function openpgpIn(pool: Pick<Pool<GatewayTasks>, 'run'>): Openpgp {
  const kept = new LRUCache<string, OpenpgpVerdict>(entriesUpTo(KEPT_MAX))
  return {
    readKey: (armored, ownerId) =>
      withinLimits(pool.run('readOpenpgpKey', { armored }, { deadlineMs: DEADLINE_MS, ownerId })),
    verifyText: (input, ownerId) =>
      withinLimits(pool.run('verifyOpenpgp', input, { deadlineMs: DEADLINE_MS, ownerId })),
    async verifyObjects(signatures, { ownerId, state, keys }) {
      const keyOf = ({ id }: ObjectSignature) => `${id} ${state}`
      const missing = signatures.filter((signature) => !kept.has(keyOf(signature)))
      if (missing.length > 0) {
        const input = {
          keys,
          signatures: missing.map(({ armored, payload }) => ({ armored, payload })),
        }
        const found = await pool
          .run('verifyOpenpgp', input, { deadlineMs: DEADLINE_MS, ownerId })
          .catch((error: unknown): readonly OpenpgpVerdict[] => {
            if (error instanceof TaskRefused) return []
            throw error
          })
        for (const [at, verdict] of found.entries()) {
          const signature = missing[at]
          if (signature !== undefined) kept.set(keyOf(signature), verdict)
        }
      }
      return signatures.map((signature) => kept.get(keyOf(signature)))
    },
  }
}

async function withinLimits<T>(task: Promise<T>): Promise<T> {
  try {
    return await task
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error
    if (error.reason === 'busy') {
      throw new Failure('unavailable', 'Too many GPG keys are being read.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    throw new Failure('invalid', 'Reading the GPG key takes too much time or memory.')
  }
}
