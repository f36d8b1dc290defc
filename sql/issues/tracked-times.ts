/** Times that users have spent on issues and pull requests. */

import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'
import { recordIssueEvents } from './issue-events.js'
import { conversationsVisibleTo, IS_SERVED } from './issue-lists.js'

export interface TrackedTime {
  readonly id: number
  readonly issueId: number
  readonly userId: number
  readonly seconds: number
  readonly createdAtMs: number
}

export type NewTrackedTime = Omit<TrackedTime, 'id'>

/** Adds a time and the event of it, which is of the user who adds it. */
export async function addTrackedTime(
  db: Database,
  { issueId, userId, seconds, createdAtMs }: NewTrackedTime,
  event: { readonly kind: 'add_time_manual' | 'stop_tracking'; readonly actorId: number },
): Promise<TrackedTime> {
  return await transaction(db, async (trx) => {
    const columns = { issue_id: issueId, user_id: userId, seconds, created_at: createdAtMs }
    const [id] = await trx('tracked_times').insert(columns)
    if (id === undefined) throw new Error('The insert returned no id.')
    const details = { body: durationText(seconds), trackedTimeId: id }
    await recordIssueEvents(trx, [{ ...event, issueId, details }])
    return { id, issueId, userId, seconds, createdAtMs }
  })
}

/** Formats a duration as Gitea does, for example `1 hour 20 minutes`. */
export function durationText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    ...(seconds < 60 ? [[seconds, 'second'] as const] : []),
  ] as const
  const shown = parts.filter(([count]) => count > 0)
  return shown.map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`).join(' ')
}

/** Filter of times; absent fields match every time. */
export interface TimeFilter {
  readonly repositoryId?: number
  readonly issueId?: number
  readonly userId?: number | undefined
  /** Earliest time of creation, inclusive. */
  readonly sinceMs?: number | undefined
  /** Latest time of creation, exclusive. */
  readonly beforeMs?: number | undefined
  readonly viewer: Viewer
  readonly page: Page
}

/** Returns times on issues that the viewer can read, oldest first. */
export async function listTrackedTimes(
  db: Database,
  { viewer, page, ...filter }: TimeFilter,
): Promise<Paged<TrackedTime>> {
  const seen = conversationsVisibleTo(viewer)
  const fields = [
    ['i.repository_id = ?', filter.repositoryId],
    ['t.issue_id = ?', filter.issueId],
    ['t.user_id = ?', filter.userId],
    ['t.created_at >= ?', filter.sinceMs],
    ['t.created_at < ?', filter.beforeMs],
  ] as const
  const given = fields.filter(([, value]) => value !== undefined)
  const where = [`${seen.where} and ${IS_SERVED}`, ...given.map(([sql]) => sql)].join(' and ')
  const bindings = [...seen.bindings, ...given.map(([, value]) => value ?? 0)]
  const from = `from tracked_times t join issues i on i.id = t.issue_id
    join repositories r on r.id = i.repository_id join owners o on o.id = r.owner_id
    where ${where}`
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total ${from}`,
    bindings,
  )
  const rows = await selectRows<TimeRow>(
    db,
    `select t.id, t.issue_id, t.user_id, t.seconds, t.created_at ${from}
      order by t.created_at, t.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(timeOf), total: count?.total ?? 0 }
}

/** Returns times by their ids. */
export async function findTrackedTimes(
  db: Database,
  ids: readonly number[],
): Promise<readonly TrackedTime[]> {
  if (ids.length === 0) return []
  const rows = await selectRows<TimeRow>(
    db,
    `select id, issue_id, user_id, seconds, created_at from tracked_times
      where id in (${ids.map(() => '?').join()}) order by id`,
    ids,
  )
  return rows.map(timeOf)
}

/** Deletes times of an issue, by id or by user, and records it. Returns the number of them. */
export async function deleteTrackedTimes(
  db: Database,
  issueId: number,
  { actorId, ...which }: { readonly actorId: number } & ({ id: number } | { userId: number }),
): Promise<number> {
  const where = 'id' in which ? { id: which.id } : { user_id: which.userId }
  return await transaction(db, async (trx) => {
    const rows: readonly { seconds: number }[] = await trx('tracked_times')
      .where({ issue_id: issueId, ...where })
      .select('seconds')
    if (rows.length === 0) return 0
    await trx('tracked_times')
      .where({ issue_id: issueId, ...where })
      .delete()
    const seconds = rows.reduce((sum, row) => sum + row.seconds, 0)
    const details = { body: `- ${durationText(seconds)}` }
    await recordIssueEvents(trx, [{ issueId, actorId, kind: 'delete_time_manual', details }])
    return rows.length
  })
}

interface TimeRow {
  readonly id: number
  readonly issue_id: number
  readonly user_id: number
  readonly seconds: number
  readonly created_at: number
}

function timeOf(row: TimeRow): TrackedTime {
  return {
    id: row.id,
    issueId: row.issue_id,
    userId: row.user_id,
    seconds: row.seconds,
    createdAtMs: row.created_at,
  }
}
