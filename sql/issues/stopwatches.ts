/** Stopwatches, which measure the time that a user spends on an issue: one for each user. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'
import { recordIssueEvents } from './issue-events.js'
import { conversationsVisibleTo, IS_SERVED } from './issue-lists.js'
import { addTrackedTime } from './tracked-times.js'

/** User and issue of a stopwatch. */
export interface StopwatchPlace {
  readonly userId: number
  readonly issueId: number
}

export interface Stopwatch extends StopwatchPlace {
  readonly createdAtMs: number
}

/**
 * Starts the user's stopwatch on an issue, and stops the one that runs on another issue. Throws
 * `conflict` if it runs on this one.
 */
export async function startStopwatch(
  db: Database,
  { userId, issueId }: StopwatchPlace,
): Promise<void> {
  await transaction(db, async (trx) => {
    // The lock of the user's row serializes the changes of one user's stopwatch.
    await trx('users').where({ owner_id: userId }).forUpdate().first('owner_id')
    const running = await trx('stopwatches').where({ user_id: userId }).first('issue_id')
    if (running?.issue_id === issueId) {
      throw new Failure('conflict', 'cannot start a stopwatch again if it already exists')
    }
    if (running !== undefined) await stopStopwatch(trx, { userId, issueId: running.issue_id })
    const row = { user_id: userId, issue_id: issueId, created_at: Date.now() }
    await trx('stopwatches').insert(row)
    await recordIssueEvents(trx, [{ issueId, actorId: userId, kind: 'start_tracking' }])
  })
}

/** Stops a stopwatch and adds its time. Returns false if none runs on the issue. */
export async function stopStopwatch(
  db: Database,
  { userId, issueId }: StopwatchPlace,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const where = { user_id: userId, issue_id: issueId }
    const running = await trx('stopwatches').where(where).forUpdate().first('created_at')
    if (running === undefined) return false
    await trx('stopwatches').where(where).delete()
    const nowMs = Date.now()
    const seconds = Math.max(0, Math.floor((nowMs - running.created_at) / 1_000))
    const time = { issueId, userId, seconds, createdAtMs: nowMs }
    await addTrackedTime(trx, time, { kind: 'stop_tracking', actorId: userId })
    return true
  })
}

/** Deletes a stopwatch without its time. Returns false if none runs on the issue. */
export async function cancelStopwatch(
  db: Database,
  { userId, issueId }: StopwatchPlace,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const where = { user_id: userId, issue_id: issueId }
    if ((await trx('stopwatches').where(where).delete()) === 0) return false
    await recordIssueEvents(trx, [{ issueId, actorId: userId, kind: 'cancel_tracking' }])
    return true
  })
}

/** Returns the running stopwatches of a user on issues that the viewer can read. */
export async function listStopwatches(
  db: Database,
  userId: number,
  { viewer, page }: { readonly viewer: Viewer; readonly page: Page },
): Promise<Paged<Stopwatch>> {
  const seen = conversationsVisibleTo(viewer)
  const from = `from stopwatches s join issues i on i.id = s.issue_id
    join repositories r on r.id = i.repository_id join owners o on o.id = r.owner_id
    where s.user_id = ? and ${seen.where} and ${IS_SERVED}`
  const bindings = [userId, ...seen.bindings]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total ${from}`,
    bindings,
  )
  const rows = await selectRows<{ user_id: number; issue_id: number; created_at: number }>(
    db,
    `select s.user_id, s.issue_id, s.created_at ${from} order by s.created_at limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  const entries = rows.map((row) => ({
    userId: row.user_id,
    issueId: row.issue_id,
    createdAtMs: row.created_at,
  }))
  return { entries, total: count?.total ?? 0 }
}
