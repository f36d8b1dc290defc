/** Inspection of uploads in a pool, with errors for uploads that exceed its limits. */

import { Failure } from '../../conf/failures.js'
import type { Inspect } from '../../registry/inspections.js'
import { type Pool, type RefusalReason, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/** Time limit of an upload: 5 seconds, and a millisecond for each 10 KB. */
const BASE_MS = 5_000
const BYTES_PER_MS = 10_000

const RETRY_AFTER_SECONDS = 10

/**
 * Returns a function that reads uploads in the pool. It throws `bad_request` if an upload takes too
 * much time or memory, and `unavailable` if too many uploads wait.
 */
export function inspectIn(pool: Pick<Pool<GatewayTasks>, 'run'>): Inspect {
  return async (format, { path, bytes }, ownerId) => {
    const limits = { deadlineMs: BASE_MS + bytes / BYTES_PER_MS, ownerId }
    try {
      // The task returns what the function of that format in INSPECTIONS returns.
      return (await pool.run('inspect', { format, path }, limits)) as never
    } catch (error) {
      throw error instanceof TaskRefused ? failureOf(error.reason) : error
    }
  }
}

function failureOf(reason: RefusalReason): Failure {
  if (reason === 'busy') {
    const retryAfterSeconds = RETRY_AFTER_SECONDS
    return new Failure('unavailable', 'Too many uploads are being read.', { retryAfterSeconds })
  }
  const what = reason === 'deadline' ? 'takes too long' : 'takes too much memory'
  return new Failure('bad_request', `The package is refused: reading it ${what}.`)
}
