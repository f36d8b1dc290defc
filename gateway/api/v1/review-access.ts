/** Who may review a pull request, and who may be asked to. */

import { Failure } from '../../../conf/failures.js'
import { accessToRepository, atLeast } from '../../../sql/access.js'
import { foldCase } from '../../../sql/bindings.js'
import { findReview, type Review } from '../../../sql/reviews.js'
import { findUser } from '../../../sql/users.js'
import type { ReviewerWish } from '../../actions/open-pull.js'
import type { PullState } from '../../actions/refresh-pulls.js'
import type { Grants } from '../../auth/gate.js'
import type { Context } from '../../context.js'
import { noSuchThing, numberOf } from './issue-access.js'

type Grant = Grants['repository']

export interface NamedReviewers {
  readonly body: {
    readonly reviewers?: readonly string[]
    readonly team_reviewers?: readonly string[]
  }
  /** Who opened the pull request, and does not review it. */
  readonly authorId: number | undefined
}

/**
 * The people who are named. Throws `not_found` for one who is not there, and `invalid` for one who
 * may not be asked.
 */
export async function reviewersOf(
  { db }: Context,
  { repository }: Grant,
  { body, authorId }: NamedReviewers,
): Promise<readonly ReviewerWish[]> {
  const [team] = body.team_reviewers ?? []
  if (team !== undefined) throw new Failure('invalid', `The team ${team} cannot be asked for it.`)
  const reviewers: ReviewerWish[] = []
  for (const name of new Set((body.reviewers ?? []).map(foldCase))) {
    const user = await findUser(db, name)
    const mode = user === undefined ? 'none' : await accessToRepository(db, user, repository)
    if (user === undefined) {
      throw new Failure('not_found', `user does not exist [uid: 0, name: ${name}]`)
    }
    if (!atLeast(mode, 'read')) throw new Failure('invalid', `${user.name} cannot read it.`)
    if (user.id === authorId) {
      throw new Failure('invalid', 'Who opened a pull request does not review it.')
    }
    reviewers.push({ user, isOfficial: atLeast(mode, 'write') })
  }
  return reviewers
}

/** The review `{id}`. Throws `not_found`, also for a pending one of somebody else. */
export async function reviewOf(
  { db }: Context,
  { user }: Grant,
  {
    state,
    params,
  }: {
    readonly state: PullState
    readonly params: Readonly<Record<string, string>>
  },
): Promise<Review> {
  const review = await findReview(db, state.pull.id, numberOf(params, 'id'))
  const isSeen = review?.state !== 'PENDING' || review.reviewerId === user?.id
  if (review === undefined || !isSeen) throw noSuchThing()
  return review
}
