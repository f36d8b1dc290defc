/** Events of issues and pull requests: what changed, when, and who changed it. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { nextEntryTimeMs } from './entry-times.js'

/** Kind of an event, named as Gitea names it in its timeline. */
export type IssueEventKind =
  | 'reopen'
  | 'close'
  | 'merge_pull'
  | 'issue_ref'
  | 'comment_ref'
  | 'pull_ref'
  | 'label'
  | 'milestone'
  | 'assignees'
  | 'change_title'
  | 'change_issue_ref'
  | 'change_target_branch'
  | 'delete_branch'
  | 'added_deadline'
  | 'modified_deadline'
  | 'removed_deadline'
  | 'lock'
  | 'unlock'
  | 'review'
  | 'review_request'
  | 'dismiss_review'
  | 'add_dependency'
  | 'remove_dependency'
  | 'pin'
  | 'unpin'
  | 'start_tracking'
  | 'stop_tracking'
  | 'cancel_tracking'
  | 'add_time_manual'
  | 'delete_time_manual'

/** Values of an event that depend on its kind. */
export interface EventDetails {
  /** Text as Gitea formats it, for example `1` for an added label. */
  readonly body?: string
  readonly labelId?: number
  readonly milestoneId?: number | undefined
  readonly oldMilestoneId?: number | undefined
  readonly assigneeId?: number | undefined
  readonly teamId?: number | undefined
  /** True if an assignee or a reviewer was removed. */
  readonly isRemoved?: boolean
  readonly oldTitle?: string
  readonly newTitle?: string
  readonly oldRef?: string
  readonly newRef?: string
  /** Comment that refers to the issue. */
  readonly commentId?: number
  readonly trackedTimeId?: number
}

export interface NewIssueEvent {
  readonly issueId: number
  readonly kind: IssueEventKind
  /** Undefined if no user caused the event. */
  readonly actorId: number | undefined
  readonly otherIssueId?: number
  readonly reviewId?: number
  readonly details?: EventDetails
}

export interface IssueEvent {
  readonly id: number
  readonly kind: IssueEventKind
  /** Undefined if the account was deleted. */
  readonly actorId: number | undefined
  readonly otherIssueId: number | undefined
  readonly reviewId: number | undefined
  readonly details: EventDetails
  readonly createdAtMs: number
}

/** Stores events that happened now. The transaction is that of the change itself. */
export async function recordIssueEvents(
  db: Database,
  events: readonly NewIssueEvent[],
): Promise<void> {
  if (events.length === 0) return
  const nowMs = nextEntryTimeMs()
  await db('issue_events').insert(
    events.map((event) => ({
      issue_id: event.issueId,
      kind: event.kind,
      actor_id: event.actorId ?? null,
      other_issue_id: event.otherIssueId ?? null,
      review_id: event.reviewId ?? null,
      details: JSON.stringify(event.details ?? {}),
      created_at: nowMs,
    })),
  )
}

/** Returns events by their ids. */
export async function findIssueEvents(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, IssueEvent>> {
  if (ids.length === 0) return new Map()
  const rows = await selectRows<EventRow>(
    db,
    `select id, kind, actor_id, other_issue_id, review_id, details, created_at
      from issue_events where id in (${ids.map(() => '?').join()})`,
    ids,
  )
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        kind: row.kind,
        actorId: row.actor_id ?? undefined,
        otherIssueId: row.other_issue_id ?? undefined,
        reviewId: row.review_id ?? undefined,
        details: JSON.parse(row.details) as EventDetails,
        createdAtMs: row.created_at,
      },
    ]),
  )
}

interface EventRow {
  readonly id: number
  readonly kind: IssueEventKind
  readonly actor_id: number | null
  readonly other_issue_id: number | null
  readonly review_id: number | null
  readonly details: string
  readonly created_at: number
}
