/** Follow-up of a review: the update time of its pull request, mentions and events. */

import { noteMentions } from '../../../sql/issues/issue-people.js'
import { touchIssue } from '../../../sql/issues/issues.js'
import type { Review } from '../../../sql/pulls/reviews.js'
import type { Context } from '../../request/context.js'
import { type IssueNotification, notifyOfIssue } from '../notifications/notify-users.js'

/** To be told of each review that was written or submitted, once it is in the database. */
export async function reviewSubmitted(
  context: Context,
  {
    repository,
    issue,
    actor,
    review,
  }: Pick<IssueNotification, 'repository' | 'actor'> & {
    readonly issue: { readonly id: number; readonly number: number }
    readonly review: Review
  },
): Promise<void> {
  await touchIssue(context.db, issue.id)
  if (review.state === 'PENDING') return
  await noteMentions(context.db, issue.id, review.content)
  await notifyOfIssue(context, { repository, issue, actor })
}
