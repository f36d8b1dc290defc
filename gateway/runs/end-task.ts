/** The end of a task, and of its job with it. */

import { changeJob, findJob } from '../../sql/runs/run-jobs.js'
import type { RunConclusion } from '../../sql/runs/statuses.js'
import { type Task, updateTask } from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'

export interface TaskEnd {
  readonly result: RunConclusion
  /** Reason for the result, if it is not the runner's; empty otherwise. */
  readonly reason: string
}

/**
 * Ends a task and its job. A job that was cancelled stays cancelled. Returns false if the task had
 * ended before.
 */
export async function endTask(
  context: Context,
  task: Pick<Task, 'id' | 'jobId'>,
  { result, reason }: TaskEnd,
): Promise<boolean> {
  const job = await findJob(context.db, task.jobId)
  if (job === undefined) return false
  return await changeRun(context, job.runId, async (trx) => {
    const stoppedAtMs = Date.now()
    // Without a reason, that of the cancellation stays.
    const why = reason === '' ? undefined : reason
    const ends = [
      { from: ['running'], to: result, reason: why, stoppedAtMs },
      { from: ['cancelling'], to: 'cancelled', reason: why, stoppedAtMs },
    ] as const
    const current = await findJob(trx, job.id)
    if (current?.taskId !== task.id) return false
    for (const end of ends) {
      if (!(await changeJob(trx, job.id, end))) continue
      await updateTask(trx, task.id, { stoppedAtMs })
      return true
    }
    return false
  })
}
