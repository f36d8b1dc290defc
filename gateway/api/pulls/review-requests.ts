/** Review requests over the API: request reviews from users and teams, and cancel requests. */

import { Type } from 'typebox'
import { isFailure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { recordIssueEvents } from '../../../sql/issues/issue-events.js'
import { type Review, removeRequest } from '../../../sql/pulls/reviews.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { refuseOthers } from '../../actions/issues/issue-access.js'
import { pullOf } from '../../actions/pulls/find-pull.js'
import { askedDetails, type ReviewerInput, requestReview } from '../../actions/pulls/open-pull.js'
import { PULL_REVIEW, reviewObjects } from '../../objects/pulls/review-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { PULL_PARAMS } from './pull-access.js'
import { PULL_REVIEW_REQUEST_FIELDS } from './pull-options.js'
import { reviewersOf } from './review-access.js'

const PULL_REVIEW_REQUEST_OPTIONS = Type.Object(PULL_REVIEW_REQUEST_FIELDS, {
  $id: 'PullReviewRequestOptions',
})

const create = defineOperation({
  id: 'repoCreatePullReviewRequests',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/requested_reviewers',
  summary: 'create review requests for a pull request',
  tags: ['repository'],
  access: {
    kind: 'repository',
    mode: 'read',
    area: 'pull-requests',
    isSignedIn: true,
    refusesBlocked: true,
  },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  body: PULL_REVIEW_REQUEST_OPTIONS,
  success: { status: 201, schema: Type.Array(PULL_REVIEW) },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const actor = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const { issue, pull } = state
    refuseOthers(grant, issue)
    const reviewers = await reviewersOf(context, grant, { body, authorId: issue.authorId })
    const reviews: Review[] = []
    const asked: Array<User | undefined> = []
    for (const reviewer of reviewers) {
      try {
        reviews.push(await requestReview(context, pull, { ...reviewer, actorId: actor.id }))
        asked.push(userOf(reviewer))
      } catch (error) {
        // A conflict means that the review is requested already.
        if (!isFailure(error, 'conflict')) throw error
      }
    }
    const { repository } = grant
    if (reviews.length > 0) {
      const event = { kind: 'review_requested', repository, issue, actor } as const
      await context.events.publish({ ...event, reviewers: asked })
    }
    return jsonReply(201, await reviewObjects(context, grant, { state, reviews }))
  },
})

const remove = defineOperation({
  id: 'repoDeletePullReviewRequests',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/pulls/{index}/requested_reviewers',
  summary: 'cancel review requests for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests', isSignedIn: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  body: PULL_REVIEW_REQUEST_OPTIONS,
  success: { status: 204, schema: null },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const actor = actingUserOf(grant)
    const { issue, pull } = await pullOf(context, grant, params)
    const reviewers = await reviewersOf(context, grant, { body, authorId: undefined })
    // Reviewers may withdraw from their own review.
    const isOwn = reviewers.every((reviewer) => userOf(reviewer)?.id === actor.id)
    if (!isOwn) refuseOthers(grant, issue)
    const removed: Array<User | undefined> = []
    for (const reviewer of reviewers) {
      const { asked } = reviewer
      const whose = 'user' in asked ? { reviewerId: asked.user.id } : { teamId: asked.team.id }
      const isRemoved = await removeRequest(context.db, { pullId: pull.id, ...whose })
      if (!isRemoved) continue
      removed.push(userOf(reviewer))
      const details = { ...askedDetails(asked), isRemoved: true }
      const event = { issueId: issue.id, actorId: actor.id, kind: 'review_request' as const }
      await recordIssueEvents(context.db, [{ ...event, details }])
    }
    if (removed.length > 0) {
      const { repository } = grant
      const event = { kind: 'review_request_removed', repository, issue, actor } as const
      await context.events.publish({ ...event, reviewers: removed })
    }
    return { status: 204 }
  },
})

/** Returns the requested user; undefined for a team. */
function userOf({ asked }: ReviewerInput): User | undefined {
  return 'user' in asked ? asked.user : undefined
}

export const REVIEW_REQUEST_OPERATIONS: readonly AnyOperation[] = [create, remove]
