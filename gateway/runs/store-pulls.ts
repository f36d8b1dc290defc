/** Storage of the changes of pull requests that may start workflow runs. */

import { randomUUID } from 'node:crypto'
import type { Owner } from '../../sql/accounts/owners.js'
import { findPull, type IssueAndPull } from '../../sql/pulls/pulls.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { listMovedPulls } from '../actions/pulls/moved-pulls.js'
import { pullReference } from '../actions/pulls/refresh-pulls.js'
import type { Context } from '../request/context.js'
import type { IssueChanged, RefsChanged, ReviewSubmitted } from '../request/events.js'
import { reviewPayload } from '../webhooks/issue-events.js'
import { payloadText } from './payload-text.js'
import { startsRuns, storeEvent } from './store-event.js'

/** Events that a change of a pull request causes. */
const PULL_EVENTS = ['pull_request', 'pull_request_target'] as const

/** Stores events for the open pull requests, in any repository, whose heads have moved. */
export async function storeHeads(context: Context, changed: RefsChanged): Promise<void> {
  for (const { base, entry, after } of await listMovedPulls(context, changed)) {
    const change = { entry, action: 'synchronized', after, actor: changed.pusher }
    await storePull(context, base, { ...change, causeKey: changed.key })
  }
}

export interface PullChanges extends Pick<IssueChanged, 'repository' | 'issue' | 'actor'> {
  /** Actions in the words of webhooks. */
  readonly actions: readonly string[]
}

/** Stores the changes of a pull request that one request has made. */
export async function storePullChanges(
  context: Context,
  { repository, issue, actor, actions }: PullChanges,
): Promise<void> {
  if (!startsRuns(context, repository)) return
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) return
  for (const action of actions) {
    const change = { entry: { issue, pull }, action, after: pull.headCommit, actor }
    await storePull(context, repository, { ...change, causeKey: randomUUID() })
  }
}

/** Stores the submission of a review, and of its comments as one event. */
export async function storeReview(context: Context, submitted: ReviewSubmitted): Promise<void> {
  const { repository, issue, review, actor } = submitted
  if (!startsRuns(context, repository)) return
  const payload = await reviewPayload(context, submitted)
  if (payload === undefined) return
  const common = {
    pullNumber: issue.number,
    causeKey: randomUUID(),
    repositoryId: repository.id,
    reference: pullReference(issue.number),
    before: undefined,
    after: review.commitId,
    actorId: actor.id,
    payload: payloadText(payload),
  }
  await storeEvent(context, { ...common, event: 'pull_request_review', action: 'submitted' })
  if (review.state !== 'COMMENT' && review.commentsCount === 0) return
  await storeEvent(context, { ...common, event: 'pull_request_review_comment', action: 'created' })
}

interface ChangedPull {
  readonly entry: IssueAndPull
  /** Action in the words of webhooks. */
  readonly action: string
  /** Commit of the head. */
  readonly after: string
  readonly actor: Pick<Owner, 'id'>
  readonly causeKey: string
}

async function storePull(
  context: Context,
  repository: Repository,
  { entry, action, after, actor, causeKey }: ChangedPull,
): Promise<void> {
  if (!startsRuns(context, repository)) return
  const { number } = entry.issue
  for (const event of PULL_EVENTS) {
    await storeEvent(context, {
      event,
      action,
      pullNumber: number,
      causeKey,
      repositoryId: repository.id,
      reference: pullReference(number),
      before: undefined,
      after,
      actorId: actor.id,
    })
  }
}
