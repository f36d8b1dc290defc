/** Creation of reviews of pull requests. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  createReview,
  type NewReviewComment,
  type Review,
  type ReviewState,
} from '../../../sql/pulls/reviews.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { isOfficialFor } from './merge-rules.js'
import type { PullState } from './refresh-pulls.js'
import { reviewSaved } from './review-events.js'

export interface ReviewInput {
  readonly state: PullState
  /** Event of the API, such as `APPROVED`; undefined for a draft. */
  readonly event: string | undefined
  readonly content: string
  /** Head commit that was reviewed; empty for the current head. */
  readonly commitId: string
  readonly comments: readonly NewReviewComment[]
}

/**
 * Creates a review and publishes it unless it is a draft, which is added to an earlier draft of the
 * same user. Throws `archived`, and `invalid` if the review is not permitted or empty.
 */
export async function addReview(
  context: Context,
  grant: RepositoryGrant,
  { state, event, content, commitId, comments }: ReviewInput,
): Promise<Review> {
  const reviewer = actingUserOf(grant)
  const { pull, issue } = state
  const facts = { state, reviewer, content, commentsCount: comments.length }
  const verdict = verdictOf(event, facts)
  // Reviews of earlier commits are not supported.
  if (commitId !== '' && commitId !== pull.headCommit) {
    throw new Failure('invalid', 'commit_id is not the head of the pull request')
  }
  const { repository } = grant
  const isOfficial = await isOfficialFor(context, pull, { repository, reviewer })
  const review = await createReview(context.db, {
    pullId: pull.id,
    reviewerId: reviewer.id,
    state: verdict,
    comments,
    content,
    isOfficial,
    commitId: pull.headCommit,
  })
  await reviewSaved(context, { repository, issue, actor: reviewer, review })
  return review
}

interface ReviewFacts {
  readonly state: PullState
  readonly reviewer: User
  readonly content: string
  readonly commentsCount: number
}

/** Returns the state of a review. Throws `invalid` if it is not permitted, or empty. */
export function verdictOf(
  event: string | undefined,
  { state, reviewer, content, commentsCount }: ReviewFacts,
): Exclude<ReviewState, 'REQUEST_REVIEW'> {
  const isOwn = state.issue.authorId === reviewer.id
  const isEmpty = content.trim() === '' && commentsCount === 0
  switch (event) {
    case 'APPROVED':
      if (isOwn) throw new Failure('invalid', 'approve your own pull is not allowed')
      return event
    case 'REQUEST_CHANGES':
      if (isOwn) throw new Failure('invalid', 'reject your own pull is not allowed')
      if (isEmpty) throw emptyReview(event)
      return event
    case 'COMMENT':
      if (isEmpty) throw emptyReview(event)
      return event
    case 'REQUEST_REVIEW':
      throw new Failure('invalid', 'Request a review at the path requested_reviewers.')
    default:
      return 'PENDING'
  }
}

function emptyReview(event: string): Failure {
  return new Failure('invalid', `review event ${event} requires a body or a comment`)
}
