/** Reviews of pull requests over the API: list, create, read, submit, delete. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import {
  deleteReview,
  listReviewComments,
  listReviews,
  submitReview,
} from '../../../sql/pulls/reviews.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { addReview, verdictOf } from '../../actions/pulls/add-review.js'
import { pullOf, rangeOf } from '../../actions/pulls/find-pull.js'
import { reviewSaved } from '../../actions/pulls/review-events.js'
import {
  PULL_REVIEW,
  PULL_REVIEW_COMMENT,
  reviewCommentObjects,
  reviewObject,
  reviewObjects,
} from '../../objects/pulls/review-object.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { PULL_PARAMS } from './pull-access.js'
import { reviewOf } from './review-access.js'
import { newComments, REVIEW_COMMENT_OPTION } from './review-comments.js'

const REVIEW_PARAMS = { ...PULL_PARAMS, id: 'id of the review' }

const SUBMIT_FIELDS = {
  body: Type.Optional(Type.String()),
  event: Type.Optional(
    Type.Enum(['', 'APPROVED', 'PENDING', 'COMMENT', 'REQUEST_CHANGES', 'REQUEST_REVIEW']),
  ),
}

const CREATE_PULL_REVIEW_OPTIONS = Type.Object(
  {
    ...SUBMIT_FIELDS,
    commit_id: Type.Optional(Type.String()),
    comments: Type.Optional(Type.Array(REVIEW_COMMENT_OPTION, { maxItems: 200 })),
  },
  { $id: 'CreatePullReviewOptions' },
)

const SUBMIT_PULL_REVIEW_OPTIONS = Type.Object(SUBMIT_FIELDS, { $id: 'SubmitPullReviewOptions' })

const list = defineOperation({
  id: 'repoListPullReviews',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews',
  summary: 'List all reviews for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(PULL_REVIEW) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const state = await pullOf(context, grant, params)
    const page = pageOf(query)
    const viewerId = grant.user?.id
    const { entries, total } = await listReviews(context.db, state.pull.id, { page, viewerId })
    const objects = await reviewObjects(context, grant, { state, reviews: entries })
    const { owner, name } = grant.repository
    const path = `/repos/${owner.name}/${name}/pulls/${state.issue.number}/reviews`
    return pageReply(context, objects, { path, page, total })
  },
})

const create = defineOperation({
  id: 'repoCreatePullReview',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews',
  summary: 'Create a review to an pull request',
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
  body: CREATE_PULL_REVIEW_OPTIONS,
  success: { status: 200, schema: PULL_REVIEW },
  failures: [404, 409, 422, 423],
  async handle(context, { grant, params, body }) {
    const state = await pullOf(context, grant, params)
    const comments = await newComments(context.git, repositoryPathOf(context, grant.repository), {
      range: rangeOf(state),
      wanted: body.comments ?? [],
    })
    const review = await addReview(context, grant, {
      state,
      event: body.event,
      comments,
      content: body.body ?? '',
      commitId: body.commit_id ?? '',
    })
    return jsonReply(200, await reviewObject(context, grant, { state, review }))
  },
})

const get = defineOperation({
  id: 'repoGetPullReview',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews/{id}',
  summary: 'Get a specific review for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: REVIEW_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PULL_REVIEW },
  failures: [404],
  async handle(context, { grant, params }) {
    const state = await pullOf(context, grant, params)
    const review = await reviewOf(context, grant, { state, params })
    return jsonReply(200, await reviewObject(context, grant, { state, review }))
  },
})

const submit = defineOperation({
  id: 'repoSubmitPullReview',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews/{id}',
  summary: 'Submit a pending review to an pull request',
  tags: ['repository'],
  access: {
    kind: 'repository',
    mode: 'read',
    area: 'pull-requests',
    isSignedIn: true,
    refusesBlocked: true,
  },
  scopes: ['write:repository'],
  params: REVIEW_PARAMS,
  query: NO_QUERY,
  body: SUBMIT_PULL_REVIEW_OPTIONS,
  success: { status: 200, schema: PULL_REVIEW },
  failures: [404, 422, 423],
  async handle(context, { grant, params, body }) {
    const reviewer = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const pending = await reviewOf(context, grant, { state, params })
    if (pending.state !== 'PENDING') throw new Failure('invalid', NOT_PENDING)
    const content = body.body || pending.content
    const { commentsCount } = pending
    const verdict = verdictOf(body.event, { state, reviewer, content, commentsCount })
    if (verdict === 'PENDING') throw new Failure('invalid', 'review stay pending')
    const input = { state: verdict, content, commitId: pending.commitId }
    const review = await submitReview(context.db, pending, input)
    if (review === undefined) throw new Failure('invalid', NOT_PENDING)
    const { issue } = state
    await reviewSaved(context, { repository: grant.repository, issue, actor: reviewer, review })
    return jsonReply(200, await reviewObject(context, grant, { state, review }))
  },
})

const NOT_PENDING = 'only a pending review can be submitted'

const remove = defineOperation({
  id: 'repoDeletePullReview',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews/{id}',
  summary: 'Delete a specific review from a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests', isSignedIn: true },
  scopes: ['write:repository'],
  params: REVIEW_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const user = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const review = await reviewOf(context, grant, { state, params })
    if (review.reviewerId !== user.id && grant.mode !== 'owner') {
      throw new Failure(
        'forbidden',
        'Only the reviewer or an owner of the repository can delete a review.',
      )
    }
    await deleteReview(context.db, review.id)
    return { status: 204 }
  },
})

const listComments = defineOperation({
  id: 'repoGetPullReviewComments',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments',
  summary: 'Get a specific review for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: REVIEW_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(PULL_REVIEW_COMMENT) },
  failures: [404],
  async handle(context, { grant, params }) {
    const state = await pullOf(context, grant, params)
    const review = await reviewOf(context, grant, { state, params })
    const comments = await listReviewComments(context.db, review.id)
    return jsonReply(200, await reviewCommentObjects(context, grant, { state, review, comments }))
  },
})

export const REVIEW_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  submit,
  remove,
  listComments,
]
