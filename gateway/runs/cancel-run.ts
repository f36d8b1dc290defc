/** Cancellation of runs. */

import { changeJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'

/**
 * Cancels the jobs of a run that have not ended. Those that are running end when their runner has
 * been informed; whatever it reports then, they stay cancelled.
 */
export async function cancelRun(context: Context, { id }: Run, reason = ''): Promise<void> {
  await changeRun(context, id, async (trx, { jobs }) => {
    let isChanged = false
    for (const job of jobs) {
      const stoppedAtMs = Date.now()
      const isWaiting = {
        from: ['blocked', 'waiting'],
        to: 'cancelled',
        stoppedAtMs,
        reason,
      } as const
      const isRunning = { from: ['running'], to: 'cancelling', reason } as const
      const hasChanged =
        (await changeJob(trx, job.id, isWaiting)) || (await changeJob(trx, job.id, isRunning))
      isChanged ||= hasChanged
    }
    return isChanged
  })
}
