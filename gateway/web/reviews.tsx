/** What reviewers say of a pull request, each in a sentence, and of single lines. */

import type { JSX } from 'preact/jsx-runtime'
import type { Pull } from '../../sql/pulls.js'
import {
  listReviewComments,
  listReviews,
  type Review,
  type ReviewComment,
} from '../../sql/reviews.js'
import { findTeamsById, type Team } from '../../sql/teams.js'
import { findOwnersById, type Owner } from '../../sql/users.js'
import type { RepositoryGrant } from '../actions/git-reader.js'
import type { Context } from '../context.js'
import { addressOf } from './commits-page.js'
import { Person } from './person.js'
import { Ago } from './times.js'
import { Shown } from './visible-text.js'
import { Written } from './written.js'

const SHOWN = 50

export interface ShownReviews {
  readonly reviews: readonly Review[]
  readonly total: number
  readonly comments: ReadonlyMap<number, readonly ReviewComment[]>
  readonly people: ReadonlyMap<number, Owner>
  readonly teams: ReadonlyMap<number, Team>
}

/** The reviews that the caller may see; a draft is for who writes it. */
export async function readReviews(
  { db }: Context,
  { user }: RepositoryGrant,
  pull: Pull,
): Promise<ShownReviews> {
  const page = { page: 1, limit: SHOWN }
  const { entries, total } = await listReviews(db, pull.id, { page, viewerId: user?.id })
  const comments = new Map<number, readonly ReviewComment[]>()
  for (const { id, commentsCount } of entries) {
    if (commentsCount > 0) comments.set(id, await listReviewComments(db, id))
  }
  const [people, teams] = [
    entries.flatMap(({ reviewerId }) => reviewerId ?? []),
    entries.flatMap(({ teamId }) => teamId ?? []),
  ]
  return {
    ...{ reviews: entries, total, comments },
    people: await findOwnersById(db, people),
    teams: new Map((await findTeamsById(db, teams)).map((team) => [team.id, team])),
  }
}

export interface ReviewsProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly shown: ShownReviews
}

/** Nothing where there are none. */
export function Reviews({ context, grant, shown }: ReviewsProps): JSX.Element | null {
  const { reviews, total } = shown
  if (reviews.length === 0) return null
  return (
    <section>
      <h3>Reviews</h3>
      {reviews.map((review) => (
        <OneReview {...{ context, grant, shown, review }} />
      ))}
      {total > reviews.length && (
        <p class="notice">{`The first ${reviews.length} of ${total} are shown.`}</p>
      )}
    </section>
  )
}

const VERBS: Readonly<Record<Review['state'], string>> = {
  APPROVED: 'approved this',
  REQUEST_CHANGES: 'asked for changes',
  COMMENT: 'reviewed this',
  PENDING: 'has begun a review that nobody else sees yet',
  REQUEST_REVIEW: 'was asked for a review',
}

/** The heading above all of them is of the third level. */
const UNDER = { headingsBelow: 3 }

interface OneReviewProps extends ReviewsProps {
  readonly review: Review
}

function OneReview({ context, grant, shown, review }: OneReviewProps): JSX.Element {
  const { id, reviewerId, teamId, state, isDismissed, content, createdAtMs } = review
  const { repository, user: viewer } = grant
  const base = context.settings.http.baseUrl
  const address = addressOf(context, grant)
  return (
    <div class="review">
      <p>
        {teamId === undefined ? (
          <Person {...{ base, viewer }} person={shown.people.get(reviewerId ?? 0)} />
        ) : (
          <>
            The team <Shown text={shown.teams.get(teamId)?.name ?? ''} />
          </>
        )}
        {` ${VERBS[state]} `}
        <Ago atMs={createdAtMs} />
        {isDismissed && '; that no longer counts'}
      </p>
      {content !== '' && <Written {...{ repository, address, ...UNDER }} text={content} />}
      {(shown.comments.get(id) ?? []).map(({ path, line, content: text }) => (
        <div class="line-comment">
          <p class="quiet">
            <code>
              <Shown text={path} />
            </code>
            {line < 0 ? `, line ${-line} before` : `, line ${line}`}
          </p>
          <Written {...{ repository, address, text, ...UNDER }} />
        </div>
      ))}
    </div>
  )
}
