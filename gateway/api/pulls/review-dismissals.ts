/** Dismissals of reviews over the API: a dismissed review does not count for a merge. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { findUserById } from '../../../sql/accounts/users.js'
import { recordReviewEvent } from '../../../sql/pulls/review-events.js'
import { type Review, setDismissed } from '../../../sql/pulls/reviews.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { addComment } from '../../actions/issues/add-comment.js'
import { pullOf } from '../../actions/pulls/find-pull.js'
import { PULL_REVIEW, reviewObject } from '../../objects/pulls/review-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { PULL_PARAMS } from './pull-access.js'
import { reviewOf } from './review-access.js'

const PARAMS = { ...PULL_PARAMS, id: 'id of the review' }
const PATH = '/repos/{owner}/{repo}/pulls/{index}/reviews/{id}'
const ACCESS = { kind: 'repository', mode: 'admin', area: 'pull-requests' } as const

const DISMISS_PULL_REVIEW_OPTIONS = Type.Object(
  { message: Type.Optional(Type.String()), priors: Type.Optional(Type.Boolean()) },
  { $id: 'DismissPullReviewOptions' },
)

const dismiss = defineOperation({
  id: 'repoDismissPullReview',
  method: 'POST',
  path: `${PATH}/dismissals`,
  summary: 'Dismiss a review for a pull request; the message becomes a comment',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  body: DISMISS_PULL_REVIEW_OPTIONS,
  success: { status: 200, schema: PULL_REVIEW },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const actor = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const review = await reviewOf(context, grant, { state, params })
    refuseUncounted(review)
    const hasPriors = body.priors === true
    const dismissed = await setDismissed(context.db, review, { isDismissed: true, hasPriors })
    const message = body.message?.trim() ?? ''
    await recordReviewEvent(context.db, review, {
      kind: 'dismiss_review',
      actorId: actor.id,
      details: { body: message },
    })
    if (message !== '') {
      const whose = await reviewerNameOf(context, review)
      const text = `Dismissed the review of ${whose}: ${message}`
      await addComment(context, grant, { issue: state.issue, text })
    }
    return jsonReply(200, await reviewObject(context, grant, { state, review: dismissed }))
  },
})

const restore = defineOperation({
  id: 'repoUnDismissPullReview',
  method: 'POST',
  path: `${PATH}/undismissals`,
  summary: 'Cancel to dismiss a review for a pull request',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PULL_REVIEW },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params }) {
    actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const review = await reviewOf(context, grant, { state, params })
    refuseUncounted(review)
    const change = { isDismissed: false, hasPriors: false }
    const restored = await setDismissed(context.db, review, change)
    return jsonReply(200, await reviewObject(context, grant, { state, review: restored }))
  },
})

/** Throws `forbidden` for a review that does not count for a merge anyway. */
function refuseUncounted({ state }: Review): void {
  if (state === 'APPROVED' || state === 'REQUEST_CHANGES') return
  throw new Failure('forbidden', 'Only an approval or a request for changes can be dismissed.')
}

async function reviewerNameOf({ db }: Context, { reviewerId }: Review): Promise<string> {
  const reviewer = reviewerId === undefined ? undefined : await findUserById(db, reviewerId)
  return reviewer === undefined ? 'a deleted user' : `@${reviewer.name}`
}

export const REVIEW_DISMISSAL_OPERATIONS: readonly AnyOperation[] = [dismiss, restore]
