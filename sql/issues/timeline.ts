/** Comments and events of an issue or a pull request in one list. */

import type { Knex } from 'knex'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'
import { type Comment, findComments } from './comments.js'
import { findIssueEvents, type IssueEvent } from './issue-events.js'
import { conversationsVisibleTo, IS_SERVED } from './issue-lists.js'

export type TimelineEntry =
  | { readonly kind: 'comment'; readonly comment: Comment }
  | { readonly kind: 'event'; readonly event: IssueEvent }

export interface TimelineQuery {
  readonly viewer: Viewer
  /** Earliest time of the last change, inclusive. */
  readonly sinceMs?: number | undefined
  /** Latest time of the last change, exclusive. */
  readonly beforeMs?: number | undefined
  readonly page: Page
}

/**
 * Returns the comments and events of an issue, oldest first. Leaves out events about other issues
 * that the viewer cannot read.
 */
export async function listTimeline(
  db: Database,
  issueId: number,
  { viewer, sinceMs, beforeMs, page }: TimelineQuery,
): Promise<Paged<TimelineEntry>> {
  const { where, bindings } = entriesSeenBy(viewer, issueId)
  const changed = '(? is null or changed_at >= ?) and (? is null or changed_at < ?)'
  const bounds = [sinceMs, sinceMs, beforeMs, beforeMs].map((bound) => bound ?? null)
  const from = `from (${where}) x where ${changed}`
  const [count] = await selectRows<{ total: number }>(db, `select count(*) as total ${from}`, [
    ...bindings,
    ...bounds,
  ])
  const rows = await selectRows<{ kind: 'comment' | 'event'; id: number }>(
    db,
    `select kind, id ${from} order by created_at, kind, id limit ? offset ?`,
    [...bindings, ...bounds, page.limit, offsetOf(page)],
  )
  const idsOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ id }) => id)
  const comments = await findComments(db, idsOf('comment'))
  const events = await findIssueEvents(db, idsOf('event'))
  const entries = rows.flatMap(({ kind, id }): readonly TimelineEntry[] => {
    const [comment, event] = [comments.get(id), events.get(id)]
    // An entry that was deleted after the first query is left out.
    if (kind === 'comment') return comment === undefined ? [] : [{ kind, comment }]
    return event === undefined ? [] : [{ kind, event }]
  })
  return { entries, total: count?.total ?? 0 }
}

/** Returns a query for the entries of an issue, with the times of their creation and change. */
function entriesSeenBy(
  viewer: Viewer,
  issueId: number,
): { readonly where: string; readonly bindings: readonly Knex.RawBinding[] } {
  const seen = conversationsVisibleTo(viewer)
  return {
    where: `select 'comment' as kind, c.id, c.created_at, c.updated_at as changed_at
        from comments c where c.issue_id = ?
      union all select 'event' as kind, e.id, e.created_at, e.created_at as changed_at
        from issue_events e where e.issue_id = ? and (e.other_issue_id is null or exists (
          select 1 from issues i join repositories r on r.id = i.repository_id
          join owners o on o.id = r.owner_id
          where i.id = e.other_issue_id and ${seen.where} and ${IS_SERVED}))`,
    bindings: [issueId, issueId, ...seen.bindings],
  }
}
