/** Bounded retries after lock conflicts, with random delays. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isLockConflict, unavailable } from './errors.js'

const ATTEMPTS_MAX = 6
const PAUSE_FIRST_MS = 10

/**
 * Runs `work`, and again after each lock conflict, which has rolled back its statements. Throws
 * `unavailable` after ATTEMPTS_MAX attempts.
 */
export async function retryLockConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isLockConflict(error)) throw error
      if (attempt === ATTEMPTS_MAX) throw unavailable(error)
    }
    // The random delay keeps transactions that conflicted once from conflicting again.
    await sleep(Math.random() * PAUSE_FIRST_MS * 2 ** attempt)
  }
}
