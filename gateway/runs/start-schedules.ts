/** Start of the workflows whose schedules are due. */

import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { listDueSchedules, moveSchedule, type Schedule } from '../../sql/runs/schedules.js'
import type { Context } from '../request/context.js'
import { schedulePayload } from '../webhooks/payloads.js'
import { nextTime } from '../workflows/cron.js'
import { startsRuns, storeChange } from './store-event.js'

/** Maximum number of schedules that one call starts. */
const STARTED_MAX = 1_000

/**
 * Stores an event for each schedule that is due, and sets its next time. Occurrences that were
 * missed because no gateway ran start one run together.
 */
export async function startSchedules(context: Context, nowMs = Date.now()): Promise<void> {
  for (const schedule of await listDueSchedules(context.db, nowMs, STARTED_MAX)) {
    try {
      await storeDue(context, schedule)
    } catch (error) {
      const { repositoryId: repository, file } = schedule
      context.log.warn({ error, repository, file }, 'a schedule that is due has started no run')
    }
    // The event is stored before, so that a killed process loses none. Its key has the due time, by
    // which several processes start one run.
    await moveSchedule(context.db, schedule, nextTime(schedule.cron, nowMs))
  }
}

async function storeDue(
  context: Context,
  { repositoryId, file, cron, nextAtMs }: Schedule,
): Promise<void> {
  const repository = await findRepositoryById(context.db, repositoryId)
  if (repository === undefined || !startsRuns(context, repository)) return
  const { owner } = repository
  const workflow = `${WORKFLOW_FOLDER}/${file}`
  const payload = () =>
    schedulePayload(context, { schedule: cron, workflow, repository, sender: owner })
  await storeChange(context, payload, {
    event: 'schedule',
    action: '',
    causeKey: `schedule ${file} ${cron} ${nextAtMs}`,
    repositoryId,
    actorId: owner.kind === 'user' ? owner.id : undefined,
    title: '',
  })
}
