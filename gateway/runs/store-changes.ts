/** Storage of the changes that may start workflow runs from the files of the default branch. */

import type { Context } from '../request/context.js'
import type { CommentChanged, IssueChanged } from '../request/events.js'
import { commentChangeEvent, issueChangeEvent } from '../webhooks/issue-events.js'
import { startsRuns, storeChange } from './store-event.js'

/** Stores the changes of an issue that one request has made. */
export async function storeIssueChanges(context: Context, change: IssueChanged): Promise<void> {
  const { repository, issue, actor, actions } = change
  if (!startsRuns(context, repository)) return
  for (const action of actions) {
    const rendered = await issueChangeEvent(context, change, action)
    const payload = await rendered?.payload()
    if (payload === undefined) continue
    await storeChange(context, {
      event: 'issues',
      action,
      repositoryId: repository.id,
      actorId: actor.id,
      payload,
      title: issue.title,
    })
  }
}

/** Stores a change of a comment, on an issue or a pull request. */
export async function storeComment(context: Context, change: CommentChanged): Promise<void> {
  const { repository, issue, actor, action } = change
  if (!startsRuns(context, repository)) return
  const rendered = await commentChangeEvent(context, change)
  const payload = await rendered.payload()
  if (payload === undefined) return
  const events = ['issue_comment', 'pull_request_comment'] as const
  for (const event of issue.isPull ? events : events.slice(0, 1)) {
    await storeChange(context, {
      event,
      action,
      repositoryId: repository.id,
      actorId: actor.id,
      payload,
      title: issue.title,
    })
  }
}
