/** Planning of workflow files in a pool: files take as long as their authors choose. */

import { Failure } from '../../conf/failures.js'
import type { FileInput, FilePlan } from '../workflows/plan-file.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/** Plans a workflow file of an owner. Rejects with `unavailable` if too many tasks wait. */
export type PlanFile = (input: FileInput, ownerId: number) => Promise<FilePlan>

/** CPU time for one file, of which a file within the limits of the parser takes a small part. */
const DEADLINE_MS = 2_000

const RETRY_AFTER_SECONDS = 10

/** Returns a function that plans files in the pool. */
export function planIn(pool: Pick<Pool<GatewayTasks>, 'run'>): PlanFile {
  return async (input, ownerId) => {
    try {
      return await pool.run('plan', input, { deadlineMs: DEADLINE_MS, ownerId })
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error
      if (error.reason === 'busy') {
        throw new Failure('unavailable', 'Too many workflow files are being read.', {
          cause: error,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      const fault = '1:1: reading the file takes too much time or memory'
      return { kind: 'faulty', fault, isStarted: false }
    }
  }
}
