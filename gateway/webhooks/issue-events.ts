/** Webhook events of changed issues, pull requests and their comments. */

import type { HookEvent } from '../../conf/hook-events.js'
import type { User } from '../../sql/accounts/users.js'
import { findComment } from '../../sql/issues/comments.js'
import { findIssue, type Issue } from '../../sql/issues/issues.js'
import { findPull } from '../../sql/pulls/pulls.js'
import type { Review } from '../../sql/pulls/reviews.js'
import type { MovedPull } from '../actions/pulls/moved-pulls.js'
import { type PullState, refreshPulls } from '../actions/pulls/refresh-pulls.js'
import { ANONYMOUS } from '../auth/authenticate.js'
import { commentObject } from '../objects/issues/comment-object.js'
import { issueObject } from '../objects/issues/issue-object.js'
import { pullObject } from '../objects/pulls/pull-object.js'
import type { Context } from '../request/context.js'
import type {
  CommentChanged,
  IssueAction,
  IssueChanged,
  RefsChanged,
  ReviewRequested,
  ReviewSubmitted,
} from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'
import { type Changes, commentEvent, issueEvent, OWNER_ACCESS, pullEvent } from './payloads.js'

/** Suffix of the webhook event of each action. */
const SUFFIXES = {
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

type Suffix = (typeof SUFFIXES)[IssueAction]
type IssueHookEvent = 'issues' | `issue${Exclude<Suffix, ''>}`
type PullHookEvent = `pull_request${Suffix}`

/** Returns the kind of webhook event that an action on an issue or a pull request causes. */
export function issueHookEvent({ isPull }: Issue, action: IssueAction): HookEvent {
  return isPull ? pullHookEvent(action) : plainHookEvent(action)
}

function pullHookEvent(action: IssueAction): PullHookEvent {
  return `pull_request${SUFFIXES[action]}`
}

function plainHookEvent(action: IssueAction): IssueHookEvent {
  const suffix = SUFFIXES[action]
  return suffix === '' ? 'issues' : `issue${suffix}`
}

/** Returns the event of one action; undefined if the pull request was deleted meanwhile. */
export async function issueChangeEvent(
  context: Context,
  { repository, actor, issue: before }: IssueChanged,
  action: IssueAction,
): Promise<WebhookEvent | undefined> {
  const source = { repository, sender: actor }
  const issue = (await findIssue(context.db, repository.id, before.number)) ?? before
  const changes = action === 'edited' ? changesOf(before, issue) : {}
  const edited = Object.keys(changes).length === 0 ? {} : { changes }
  if (!issue.isPull) {
    const object = await issueObject(context, { repository, user: actor }, issue)
    const event = plainHookEvent(action)
    return issueEvent(context, { ...source, event, action, issue: object, ...edited })
  }
  const pull = await pullOf(context, { repository, actor }, issue)
  if (pull === undefined) return undefined
  return pullEvent(context, { ...source, event: pullHookEvent(action), action, pull, ...edited })
}

/** Returns the event of a comment that was created, edited or deleted. */
export async function commentChangeEvent(
  context: Context,
  change: CommentChanged,
): Promise<WebhookEvent> {
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

/** Returns the earlier title, text and ref of an issue, as far as they differ from the present. */
function changesOf(before: Issue, issue: Issue): Changes {
  return {
    ...(before.title === issue.title ? {} : { title: { from: before.title } }),
    ...(before.content === issue.content ? {} : { body: { from: before.content } }),
    ...(before.ref === issue.ref ? {} : { ref: { from: before.ref } }),
  }
}

/** A change of a pull request, and the user who made it. */
export interface PullChange extends Pick<IssueChanged, 'repository' | 'actor'> {
  readonly state: PullState
  readonly action: string
}

/** Returns the payload of a change of a pull request. */
export async function pullPayload(
  context: Context,
  { repository, actor, state, action }: PullChange,
): Promise<object> {
  const pull = await pullObject(context, viewOf({ repository, actor }), state)
  const source = { repository, sender: actor }
  const event = pullEvent(context, { ...source, event: 'pull_request', action, pull })
  return (await event.payload()) ?? {}
}

/** Kind of the webhook event, and word of workflows, for each state of a submitted review. */
const REVIEW_STATES = {
  APPROVED: ['pull_request_review_approved', 'approved'],
  REQUEST_CHANGES: ['pull_request_review_rejected', 'changes_requested'],
  COMMENT: ['pull_request_review_comment', 'commented'],
} as const

/** Returns the kind of webhook event of a review; undefined if only its author sees it. */
export function reviewHookEvent({ state }: Pick<Review, 'state'>) {
  return state === 'PENDING' || state === 'REQUEST_REVIEW' ? undefined : REVIEW_STATES[state][0]
}

/** Returns the event of a review; undefined if the pull request was deleted meanwhile. */
export async function reviewEvent(
  context: Context,
  { repository, actor, issue: { number }, review }: Omit<ReviewSubmitted, 'kind'>,
): Promise<WebhookEvent | undefined> {
  const { content, commitId } = review
  if (review.state === 'PENDING' || review.state === 'REQUEST_REVIEW') return undefined
  const issue = await findIssue(context.db, repository.id, number)
  const pull = issue && (await pullOf(context, { repository, actor }, issue))
  if (pull === undefined) return undefined
  const [type, state] = REVIEW_STATES[review.state]
  return pullEvent(context, {
    repository,
    sender: actor,
    event: type,
    action: 'reviewed',
    pull,
    review: { type, state, content },
    commitId,
  })
}

/** Returns the payload of a review; undefined if the pull request was deleted meanwhile. */
export async function reviewPayload(
  context: Context,
  submitted: Omit<ReviewSubmitted, 'kind'>,
): Promise<object | undefined> {
  const event = await reviewEvent(context, submitted)
  return await event?.payload()
}

/** Returns an event for each requested user or team; none if the pull request was deleted. */
export async function reviewRequestEvents(
  context: Context,
  { kind, repository, actor, issue, reviewers }: ReviewRequested,
): Promise<readonly WebhookEvent[]> {
  const pull = await pullOf(context, { repository, actor }, issue)
  if (pull === undefined) return []
  return reviewers.map((reviewer) =>
    pullEvent(context, {
      repository,
      sender: actor,
      event: 'pull_request_review_request',
      action: kind,
      pull,
      ...(reviewer === undefined ? {} : { requestedReviewer: reviewer }),
    }),
  )
}

/** Returns the event of a pull request whose head has moved; undefined if it was deleted. */
export async function movedPullEvent(
  context: Context,
  { base, entry, after }: MovedPull,
  { pusher, key }: Pick<RefsChanged, 'pusher' | 'key'>,
): Promise<WebhookEvent | undefined> {
  const pull = await pullOf(context, { repository: base, actor: undefined }, entry.issue)
  if (pull === undefined) return undefined
  const source = { repository: base, sender: pusher }
  const common = { event: 'pull_request_sync', action: 'synchronized', commitId: after } as const
  const event = pullEvent(context, { ...source, ...common, pull })
  return { ...event, key: `${key} ${common.event} ${entry.issue.id}` }
}

/** Returns the PullRequest of the API. */
async function pullOf(context: Context, { repository, actor }: PullViewer, issue: Issue) {
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) return undefined
  const [state] = await refreshPulls(context, repository, [{ issue, pull }])
  if (state === undefined) return undefined
  return await pullObject(context, viewOf({ repository, actor }), state)
}

interface PullViewer extends Pick<IssueChanged, 'repository'> {
  /** User as whom the object is rendered; undefined for anonymous viewers. */
  readonly actor: User | undefined
}

function viewOf({ repository, actor }: PullViewer) {
  return { who: ANONYMOUS, user: actor, repository, ...OWNER_ACCESS, hasMoved: false } as const
}
