/** Reduction of uploaded pictures in a pool: their uploaders choose the cost. */

import { Failure } from '../../conf/failures.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/**
 * Returns an uploaded image as a small PNG image. Throws `invalid` if it cannot be read within the
 * limits of the pool, and `unavailable` if too many uploads wait.
 */
export type ShrinkPicture = (data: Uint8Array, ownerId: number) => Promise<Uint8Array>

const DEADLINE_MS = 10_000

const RETRY_AFTER_SECONDS = 10

/** Returns a function that reduces pictures in the pool. */
export function shrinkIn(pool: Pick<Pool<GatewayTasks>, 'run'>): ShrinkPicture {
  return async (data, ownerId) => {
    try {
      return await pool.run('shrink', { data }, { deadlineMs: DEADLINE_MS, ownerId })
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error
      if (error.reason === 'busy') {
        const retryAfterSeconds = RETRY_AFTER_SECONDS
        throw new Failure('unavailable', 'Too many uploads are being read.', { retryAfterSeconds })
      }
      throw new Failure('invalid', 'Reading the image takes too much time or memory.')
    }
  }
}
