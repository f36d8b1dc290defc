/** The PullReview and the PullReviewComment of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { Review, ReviewComment } from '../../../sql/pulls/reviews.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { addressesOf } from '../code/commit-json.js'
import { TEAM_OBJECT, teamObjectsById } from '../organizations/team-object.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'

export const PULL_REVIEW = Type.Object(
  {
    id: Type.Integer(),
    user: nullable(USER_OBJECT),
    team: nullable(TEAM_OBJECT),
    state: Type.Enum(['APPROVED', 'PENDING', 'COMMENT', 'REQUEST_CHANGES', 'REQUEST_REVIEW']),
    body: Type.String(),
    commit_id: Type.String(),
    stale: Type.Boolean(),
    official: Type.Boolean(),
    dismissed: Type.Boolean(),
    comments_count: Type.Integer(),
    submitted_at: TIME,
    updated_at: TIME,
    html_url: Type.String(),
    pull_request_url: Type.String(),
  },
  { $id: 'PullReview' },
)

export const PULL_REVIEW_COMMENT = Type.Object(
  {
    id: Type.Integer(),
    body: Type.String(),
    user: nullable(USER_OBJECT),
    resolver: nullable(USER_OBJECT),
    pull_request_review_id: Type.Integer(),
    created_at: TIME,
    updated_at: TIME,
    path: Type.String(),
    commit_id: Type.String(),
    original_commit_id: Type.String(),
    diff_hunk: Type.String(),
    position: Type.Integer(),
    original_position: Type.Integer(),
    html_url: Type.String(),
    pull_request_url: Type.String(),
  },
  { $id: 'PullReviewComment' },
)

type Grant = Pick<Grants['repository'], 'repository' | 'user'>

/** Returns reviews of one pull request as the caller sees them. */
export async function reviewObjects(
  context: Context,
  grant: Grant,
  { state, reviews }: { readonly state: PullState; readonly reviews: readonly Review[] },
): Promise<readonly Static<typeof PULL_REVIEW>[]> {
  const ids = reviews.flatMap(({ reviewerId }) => reviewerId ?? [])
  const people = await findOwnersById(context.db, ids)
  const teams = await teamObjectsById(
    context,
    reviews.flatMap(({ teamId }) => teamId ?? []),
  )
  const personOf = (id: number | undefined) =>
    personObject(context, people.get(id ?? 0), grant.user)
  const url = pullUrl(context, grant.repository, state)
  return reviews.map((review) => ({
    id: review.id,
    user: review.teamId === undefined ? personOf(review.reviewerId) : null,
    team: teams.get(review.teamId ?? 0) ?? null,
    state: review.state,
    body: review.content,
    commit_id: review.commitId,
    stale: review.state !== 'REQUEST_REVIEW' && review.commitId !== state.pull.headCommit,
    official: review.isOfficial,
    dismissed: review.isDismissed,
    comments_count: review.commentsCount,
    submitted_at: apiTime(review.createdAtMs),
    updated_at: apiTime(review.updatedAtMs),
    html_url: `${url}#pullrequestreview-${review.id}`,
    pull_request_url: url,
  }))
}

/** Returns one review as the caller sees it. */
export async function reviewObject(
  context: Context,
  grant: Grant,
  { state, review }: { readonly state: PullState; readonly review: Review },
): Promise<Static<typeof PULL_REVIEW>> {
  const [object] = await reviewObjects(context, grant, { state, reviews: [review] })
  if (object === undefined) throw new Error('the review has no object')
  return object
}

export interface ReviewCommentsInput {
  readonly state: PullState
  readonly review: Review
  readonly comments: readonly ReviewComment[]
}

/** Returns the comments of a review on single lines, as the caller sees them. */
export async function reviewCommentObjects(
  context: Context,
  grant: Grant,
  { state, review, comments }: ReviewCommentsInput,
): Promise<readonly Static<typeof PULL_REVIEW_COMMENT>[]> {
  const people = await findOwnersById(context.db, [review.reviewerId ?? 0])
  const url = pullUrl(context, grant.repository, state)
  const user = personObject(context, people.get(review.reviewerId ?? 0), grant.user)
  return comments.map((comment) => ({
    id: comment.id,
    body: comment.content,
    user,
    resolver: null,
    pull_request_review_id: review.id,
    created_at: apiTime(comment.createdAtMs),
    updated_at: apiTime(comment.updatedAtMs),
    path: comment.path,
    commit_id: comment.commitId,
    original_commit_id: comment.commitId,
    diff_hunk: comment.diffHunk,
    position: Math.max(0, comment.line),
    original_position: Math.max(0, -comment.line),
    html_url: `${url}/files#issuecomment-${comment.id}`,
    pull_request_url: url,
  }))
}

function pullUrl(context: Context, repository: Repository, { issue }: PullState): string {
  return `${addressesOf(context, repository).html}/pulls/${issue.number}`
}
