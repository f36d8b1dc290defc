/** Follow-up of a review: the update time of its pull request, mentions and events. */

import { noteMentions } from '../../../sql/issues/issue-people.js'
import { touchIssue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import type { ReviewSubmitted } from '../../request/events.js'

export interface SavedReview extends Omit<ReviewSubmitted, 'kind' | 'issue'> {
  readonly issue: { readonly id: number; readonly number: number }
}

/** Publishes a review that is in the database, unless it is pending: only its author sees it. */
export async function reviewSaved(context: Context, saved: SavedReview): Promise<void> {
  const { issue, review } = saved
  await touchIssue(context.db, issue.id)
  if (review.state === 'PENDING') return
  await noteMentions(context.db, issue.id, review.content)
  await context.events.publish({ kind: 'review_submitted', ...saved })
}
