/** Planning of workflow files in a pool: files take as long as their authors choose. */

import { Failure } from '../../conf/failures.js'
import type { CalledInput, CalledPlan } from '../workflows/plan-called.js'
import type { DeferredInput, DeferredPlan } from '../workflows/plan-deferred.js'
import type { FileInput, FilePlan } from '../workflows/plan-file.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/** Plans of workflow files of an owner. They reject with `unavailable` if too many tasks wait. */
export interface Planner {
  planFile(input: FileInput, ownerId: number): Promise<FilePlan>
  planDeferred(input: DeferredInput, ownerId: number): Promise<DeferredPlan>
  planCalled(input: CalledInput, ownerId: number): Promise<CalledPlan>
}

/** CPU time for one file, of which a file within the limits of the parser takes a small part. */
const DEADLINE_MS = 2_000

const RETRY_AFTER_SECONDS = 10

/** Fault of a file that takes more than the pool permits. */
const TOO_COSTLY = {
  kind: 'faulty',
  fault: '1:1: reading the file takes too much time or memory',
} as const

/** Returns a planner that plans files in the pool. */
export function planIn(pool: Pick<Pool<GatewayTasks>, 'run'>): Planner {
  return {
    async planFile(input, ownerId) {
      const plan = await unlessRefused(
        pool.run('plan', input, { deadlineMs: DEADLINE_MS, ownerId }),
      )
      return plan ?? { ...TOO_COSTLY, isStarted: false }
    },
    async planDeferred(input, ownerId) {
      const plan = await unlessRefused(
        pool.run('planDeferred', input, { deadlineMs: DEADLINE_MS, ownerId }),
      )
      return plan ?? TOO_COSTLY
    },
    async planCalled(input, ownerId) {
      const plan = await unlessRefused(
        pool.run('planCalled', input, { deadlineMs: DEADLINE_MS, ownerId }),
      )
      return plan ?? TOO_COSTLY
    },
  }
}

/** Returns undefined if the task takes too much. Rejects with `unavailable` if too many wait. */
async function unlessRefused<T>(task: Promise<T>): Promise<T | undefined> {
  try {
    return await task
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error
    if (error.reason !== 'busy') return undefined
    throw new Failure('unavailable', 'Too many workflow files are being read.', {
      cause: error,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }
}
