/** Follow-up of a change of an issue, a pull request or a comment: update time and events. */

import { touchIssue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import type { CommentChanged, IssueChanged } from '../../request/events.js'

/** Updates the time of the issue and publishes the change, which must be in the database. */
export async function issueChanged(
  context: Context,
  change: Omit<IssueChanged, 'kind'>,
): Promise<void> {
  const { actions, issue } = change
  const isTouched = actions.length > 0 && !actions.includes('deleted')
  if (isTouched) await touchIssue(context.db, issue.id)
  await context.events.publish({ kind: 'issue_changed', ...change })
}

/** Updates the time of the issue and publishes the change of its comment. */
export async function commentChanged(
  context: Context,
  change: Omit<CommentChanged, 'kind'>,
): Promise<void> {
  await touchIssue(context.db, change.issue.id)
  await context.events.publish({ kind: 'comment_changed', ...change })
}
