/** Follow-up of a change of an issue, a pull request or a comment: update time and events. */

import type { User } from '../../../sql/accounts/users.js'
import { type Comment, findComment } from '../../../sql/issues/comments.js'
import { findIssue, type Issue, touchIssue } from '../../../sql/issues/issues.js'
import { findPull } from '../../../sql/pulls/pulls.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { ANONYMOUS } from '../../auth/authenticate.js'
import { commentObject } from '../../objects/issues/comment-object.js'
import { issueObject } from '../../objects/issues/issue-object.js'
import { pullObject } from '../../objects/pulls/pull-object.js'
import type { Context } from '../../request/context.js'
import { notifyOfIssue } from '../notifications/notify-users.js'
import { refreshPulls } from '../pulls/refresh-pulls.js'
import { type DomainEvent, emitIfSubscribed } from '../webhooks/events.js'
import { type Changes, commentEvent, issueEvent, pullEvent } from '../webhooks/house-events.js'

/** As webhooks of this API name them. */
export type IssueAction =
  | 'opened'
  | 'closed'
  | 'reopened'
  | 'edited'
  | 'deleted'
  | 'assigned'
  | 'unassigned'
  | 'label_updated'
  | 'label_cleared'
  | 'milestoned'
  | 'demilestoned'

interface Changed {
  readonly repository: Repository
  /** As it was before the change; as it is, where it was opened. */
  readonly issue: Issue
  /** Who did it. */
  readonly actor: User
}

/** Of the issue itself: one request may do several things to it. */
export interface IssueChange extends Changed {
  readonly actions: readonly IssueAction[]
}

/** Of a comment under it. */
export interface CommentChange extends Changed {
  readonly action: 'created' | 'edited' | 'deleted'
  /** As it was before the change; as it is, where it was created. */
  readonly comment: Comment
}

/** To be told of each change that is in the database, once. */
export async function issueChanged(
  context: Context,
  change: IssueChange | CommentChange,
): Promise<void> {
  const { issue, repository } = change
  if ('comment' in change) {
    await touchIssue(context.db, issue.id)
    if (change.action === 'created') await notifyOfIssue(context, change)
    const event = issue.isPull ? 'pull_request_comment' : 'issue_comment'
    return await emitIfSubscribed(context, { event, repository }, () =>
      commentEventOf(context, change),
    )
  }
  const isGone = change.actions.includes('deleted')
  if (!isGone && change.actions.length > 0) await touchIssue(context.db, issue.id)
  await notifyUsers(context, change)
  for (const action of change.actions) {
    const event = `${issue.isPull ? 'pull_request' : 'issue'}${KINDS[action]}` as const
    const named = event === 'issue' ? 'issues' : event
    const told = () => issueEventOf(context, { change, action, event: named })
    await emitIfSubscribed(context, { event: named, repository }, told)
  }
}

/** Of labels, milestones and better words nobody is told. */
async function notifyUsers(context: Context, change: IssueChange): Promise<void> {
  const { actions } = change
  if (actions.some((action) => NEWS.includes(action))) await notifyOfIssue(context, change)
  else if (actions.includes('assigned'))
    await notifyOfIssue(context, { ...change, to: 'assignees' })
}

const NEWS: readonly IssueAction[] = ['opened', 'closed', 'reopened']

/** Of which kind an event is: of the thing itself, or of what is tied to it. */
const KINDS = {
  opened: '',
  closed: '',
  reopened: '',
  edited: '',
  deleted: '',
  assigned: '_assign',
  unassigned: '_assign',
  label_updated: '_label',
  label_cleared: '_label',
  milestoned: '_milestone',
  demilestoned: '_milestone',
} as const satisfies Readonly<Record<IssueAction, string>>

type Kind = (typeof KINDS)[IssueAction]

interface EventInput {
  readonly change: IssueChange
  readonly action: IssueAction
  readonly event: 'issues' | `issue${Exclude<Kind, ''>}` | `pull_request${Kind}`
}

async function issueEventOf(context: Context, told: EventInput): Promise<DomainEvent | undefined> {
  const { change, action, event } = told
  const { repository, actor, issue: before } = change
  const scene = { repository, sender: actor }
  const issue = (await findIssue(context.db, repository.id, before.number)) ?? before
  const changes = action === 'edited' ? changesOf(before, issue) : {}
  const edited = Object.keys(changes).length === 0 ? {} : { changes }
  if (!issue.isPull) {
    const object = await issueObject(context, { repository, user: actor }, issue)
    const kind = event as Exclude<EventInput['event'], `pull_request${Kind}`>
    return issueEvent(context, { ...scene, event: kind, action, issue: object, ...edited })
  }
  const pull = await pullOf(context, change, issue)
  if (pull === undefined) return undefined
  const kind = event as `pull_request${Kind}`
  return pullEvent(context, { ...scene, event: kind, action, pull, ...edited })
}

async function commentEventOf(
  context: Context,
  change: CommentChange,
): Promise<DomainEvent | undefined> {
  const { repository, actor, action, issue: before } = change
  const view = { repository, user: actor }
  const issue = (await findIssue(context.db, repository.id, before.number)) ?? before
  const comment =
    (await findComment(context.db, repository.id, change.comment.id)) ?? change.comment
  const from = change.comment.content
  const isEdited = action === 'edited' && from !== comment.content
  const pull = issue.isPull ? await pullOf(context, change, issue) : undefined
  return commentEvent(context, {
    repository,
    sender: actor,
    action,
    issue: await issueObject(context, view, issue),
    comment: await commentObject(context, view, comment),
    ...(pull === undefined ? {} : { pull }),
    ...(isEdited ? { changes: { body: { from } } } : {}),
  })
}

/** What a title, a text or a reference was before, where it is another one now. */
function changesOf(before: Issue, issue: Issue): Changes {
  return {
    ...(before.title === issue.title ? {} : { title: { from: before.title } }),
    ...(before.content === issue.content ? {} : { body: { from: before.content } }),
    ...(before.ref === issue.ref ? {} : { ref: { from: before.ref } }),
  }
}

/** The PullRequest of the API. */
async function pullOf(context: Context, { repository, actor }: Changed, issue: Issue) {
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) return undefined
  const [state] = await refreshPulls(context, repository, [{ issue, pull }])
  if (state === undefined) return undefined
  const view = { who: ANONYMOUS, user: actor, repository, mode: 'owner', hasMoved: false } as const
  return await pullObject(context, view, state)
}
