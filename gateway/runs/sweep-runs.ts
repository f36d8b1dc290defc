/** Ends what will not end by itself: tasks of lost runners, and jobs that no runner takes. */

import { listUnplannedEvents } from '../../sql/runs/events.js'
import { listUnsettledRuns } from '../../sql/runs/groups.js'
import { changeJob, findJob, listAbandonedJobs, listDeferredJobs } from '../../sql/runs/run-jobs.js'
import {
  countTasks,
  findTask,
  listSilentTasks,
  listUnstartedTasks,
  type Task,
  updateTask,
} from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import { changeRun, settleAll } from './change-run.js'
import { endTask } from './end-task.js'

/** Time after which a runner that has sent nothing about its new task has not received it. */
const UNSTARTED_MS = 120_000
/** Number of runners that a job is given to. */
const TASKS_MAX = 2
/** Time after which a runner that sends nothing is lost. */
const SILENT_MS = 600_000
/** Time after which a job that no runner has taken is cancelled. */
const ABANDONED_MS = 86_400_000
/** Time after which the planning of an event or a job was lost, for example with its process. */
const UNPLANNED_MS = 60_000
/** Maximum number of tasks and jobs that one sweep ends. */
const SWEPT_MAX = 100

/**
 * Ends lost tasks and abandoned jobs, and settles the runs that do not follow the state of their
 * concurrency groups. A task that its runner has not received is given again, and events and
 * deferred jobs whose planning was lost are planned again.
 */
export async function sweepRuns(context: Context, nowMs = Date.now()): Promise<void> {
  // An event that cannot be planned is not tried for ever.
  const period = { fromMs: nowMs - ABANDONED_MS, toMs: nowMs - UNPLANNED_MS }
  for (const id of await listUnplannedEvents(context.db, period, SWEPT_MAX)) {
    await context.upkeep.enqueuePlan(id)
  }
  for (const id of await listDeferredJobs(context.db, nowMs - UNPLANNED_MS, SWEPT_MAX)) {
    await context.upkeep.enqueueJobPlan(id)
  }
  for (const id of await listUnstartedTasks(context.db, nowMs - UNSTARTED_MS, SWEPT_MAX)) {
    const task = await findTask(context.db, id)
    if (task !== undefined) await giveAgain(context, task)
  }
  for (const id of await listSilentTasks(context.db, nowMs - SILENT_MS, SWEPT_MAX)) {
    const task = await findTask(context.db, id)
    const minutes = SILENT_MS / 60_000
    const reason = `The runner has sent nothing for ${minutes} minutes.`
    if (task !== undefined) await endTask(context, task, { result: 'failure', reason })
  }
  for (const id of await listAbandonedJobs(context.db, nowMs - ABANDONED_MS, SWEPT_MAX)) {
    const job = await findJob(context.db, id)
    if (job === undefined) continue
    const hours = ABANDONED_MS / 3_600_000
    await changeRun(context, job.runId, (trx) =>
      changeJob(trx, id, {
        from: ['waiting'],
        to: 'cancelled',
        reason: `No runner has taken the job for ${hours} hours.`,
        stoppedAtMs: Date.now(),
      }),
    )
  }
  await settleAll(context, await listUnsettledRuns(context.db, SWEPT_MAX))
}

/** Lets another runner take the job of a task whose answer was lost, once. */
async function giveAgain(context: Context, task: Task): Promise<void> {
  const job = await findJob(context.db, task.jobId)
  if (job === undefined) return
  if ((await countTasks(context.db, job.id)) >= TASKS_MAX) {
    const reason = `The runner has not begun within ${UNSTARTED_MS / 60_000} minutes, again.`
    await endTask(context, task, { result: 'failure', reason })
    return
  }
  await changeRun(context, job.runId, async (trx) => {
    const current = await findJob(trx, job.id)
    const isGiven = current?.taskId === task.id
    if (!isGiven || !(await changeJob(trx, job.id, { from: ['running'], to: 'waiting' })))
      return false
    await updateTask(trx, task.id, { stoppedAtMs: Date.now() })
    return true
  })
}
