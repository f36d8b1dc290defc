/** Checks of requested reviewers, and access to a single review. */

import { Failure, notFound } from '../../../conf/failures.js'
import { findUser } from '../../../sql/accounts/users.js'
import { foldCase } from '../../../sql/database/bindings.js'
import { findTeamByName, hasTeamRepository } from '../../../sql/organizations/teams.js'
import { findReview, type Review } from '../../../sql/pulls/reviews.js'
import { accessToRepository, atLeast, teamMode } from '../../../sql/repositories/access.js'
import { numberOf } from '../../actions/issues/issue-access.js'
import type { ReviewerInput } from '../../actions/pulls/open-pull.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'

type Grant = Grants['repository']

export interface NamedReviewers {
  readonly body: {
    readonly reviewers?: readonly string[]
    readonly team_reviewers?: readonly string[]
  }
  /** Author of the pull request, who cannot review it; undefined to omit this check. */
  readonly authorId: number | undefined
}

/**
 * Returns the named users and teams. Throws `not_found` if one does not exist, and `invalid` if one
 * cannot review the pull request.
 */
export async function reviewersOf(
  context: Context,
  grant: Grant,
  { body, authorId }: NamedReviewers,
): Promise<readonly ReviewerInput[]> {
  const { db } = context
  const { repository } = grant
  const reviewers: ReviewerInput[] = []
  for (const name of new Set((body.reviewers ?? []).map(foldCase))) {
    const user = await findUser(db, name)
    if (user === undefined) {
      throw new Failure('not_found', `user does not exist [uid: 0, name: ${name}]`)
    }
    const modes = await accessToRepository(db, user, repository)
    if (!atLeast(modes.pulls, 'read')) {
      throw new Failure('invalid', `The user ${user.name} cannot read the pull requests.`)
    }
    if (user.id === authorId) {
      throw new Failure('invalid', 'The author of a pull request cannot review it.')
    }
    reviewers.push({ asked: { user }, isOfficial: atLeast(modes.code, 'write') })
  }
  return [...reviewers, ...(await teamsOf(context, grant, body.team_reviewers ?? []))]
}

/** Returns the named teams of the organization that owns the repository. */
async function teamsOf(
  { db }: Context,
  { repository: { id, owner } }: Grant,
  names: readonly string[],
): Promise<readonly ReviewerInput[]> {
  const teams: ReviewerInput[] = []
  for (const name of new Set(names.map(foldCase))) {
    if (owner.kind !== 'organization') {
      throw new Failure(
        'invalid',
        `The owner ${owner.name} is not an organization and has no teams.`,
      )
    }
    const team = await findTeamByName(db, owner.id, name)
    if (team === undefined) throw new Failure('not_found', `team does not exist [name: ${name}]`)
    const isReader = teamMode(team, 'pulls') !== 'none' && teamMode(team, 'code') !== 'none'
    if (!isReader || !(await hasTeamRepository(db, team, id))) {
      throw new Failure('invalid', `The team ${team.name} cannot read the pull requests.`)
    }
    teams.push({ asked: { team }, isOfficial: atLeast(teamMode(team, 'code'), 'write') })
  }
  return teams
}

/** Returns the review `{id}`. Throws `not_found`, also for another user's pending review. */
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
  if (review === undefined || !isSeen) throw notFound()
  return review
}
