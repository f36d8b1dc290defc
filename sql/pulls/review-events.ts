/** Events of reviews in the timeline of their pull request. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import {
  type EventDetails,
  type IssueEventKind,
  recordIssueEvents,
} from '../issues/issue-events.js'

export interface ReviewEvent {
  readonly kind: Extract<IssueEventKind, 'review' | 'dismiss_review'>
  readonly actorId: number | undefined
  readonly details?: EventDetails
}

/** Stores an event of a review that all readers of the pull request see. */
export async function recordReviewEvent(
  db: Database,
  { id: reviewId, pullId }: { readonly id: number; readonly pullId: number },
  event: ReviewEvent,
): Promise<void> {
  const { issue_id: issueId } = await db('pulls').where({ id: pullId }).first('issue_id')
  await recordIssueEvents(db, [{ ...event, issueId, reviewId }])
}

/** Returns the texts of reviews by the ids of the reviews. */
export async function textsOfReviews(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await selectRows<{ id: number; content: string }>(
    db,
    `select id, content from reviews where id in (${ids.map(() => '?').join()})`,
    ids,
  )
  return new Map(rows.map(({ id, content }) => [id, content]))
}
