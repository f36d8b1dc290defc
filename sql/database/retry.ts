/** Trying again after another transaction was in the way: bounded, and never in step with it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isLockConflict, unavailable } from './errors.js'

const ATTEMPTS_MAX = 6
const PAUSE_FIRST_MS = 10

/** Runs `work` again when it lost a lock; what it did before has been rolled back by then. */
export async function retryLockConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isLockConflict(error)) throw error
      if (attempt === ATTEMPTS_MAX) throw unavailable(error)
    }
    // Doubling, and anything up to it: transactions that met once must not meet again.
    await sleep(Math.random() * PAUSE_FIRST_MS * 2 ** attempt)
  }
}
