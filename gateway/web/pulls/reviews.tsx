/** Reviews of a pull request with their comments on lines. */

import type { JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import { findTeamsById, type Team } from '../../../sql/organizations/teams.js'
import type { Pull } from '../../../sql/pulls/pulls.js'
import {
  listReviewComments,
  listReviews,
  type Review,
  type ReviewComment,
} from '../../../sql/pulls/reviews.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { drawWritten, Written, type WrittenTexts } from '../issues/written.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'

const REVIEWS_SHOWN = 50
const COMMENTS_SHOWN = 100

interface ShownReview {
  readonly review: Review
  readonly comments: readonly ReviewComment[]
}

export interface ShownReviews {
  readonly reviews: readonly ShownReview[]
  /** True if there are more reviews or comments than the page shows. */
  readonly isCut: boolean
  readonly drawn: WrittenTexts
  readonly people: ReadonlyMap<number, Owner>
  readonly teams: ReadonlyMap<number, Team>
}

/** Reads the reviews that are visible to the caller; a draft is visible to its author only. */
export async function readReviews(
  context: Context,
  grant: RepositoryGrant,
  pull: Pull,
): Promise<ShownReviews> {
  const { db } = context
  const page = { page: 1, limit: REVIEWS_SHOWN }
  const { entries, total } = await listReviews(db, pull.id, { page, viewerId: grant.user?.id })
  const reviews: ShownReview[] = []
  let left = COMMENTS_SHOWN
  let isCut = total > entries.length
  for (const review of entries) {
    const isRead = review.commentsCount > 0 && left > 0
    const comments = isRead ? (await listReviewComments(db, review.id)).slice(0, left) : []
    left -= comments.length
    isCut ||= comments.length < review.commentsCount
    reviews.push({ review, comments })
  }
  const written = reviews.flatMap(({ review, comments }) => [review, ...comments])
  const texts = written.map(({ content }) => content)
  const people = entries.flatMap(({ reviewerId }) => reviewerId ?? [])
  const teamIds = entries.flatMap(({ teamId }) => teamId ?? [])
  return {
    reviews,
    isCut,
    drawn: await drawWritten(context, grant, { texts, headingsBelow: HEADINGS_BELOW }),
    people: await findOwnersById(db, people),
    teams: new Map((await findTeamsById(db, teamIds)).map((team) => [team.id, team])),
  }
}

export interface ReviewsProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly shown: ShownReviews
}

/** Renders the reviews; null if there are none. */
export function Reviews(props: ReviewsProps): JSX.Element | null {
  const { reviews, isCut } = props.shown
  if (reviews.length === 0) return null
  return (
    <section>
      <h3>Reviews</h3>
      {reviews.map((each) => (
        <OneReview {...props} {...each} />
      ))}
      {isCut && (
        <p class="notice">Some reviews or comments are not shown. The API returns all of them.</p>
      )}
    </section>
  )
}

const VERBS: Readonly<Record<Review['state'], string>> = {
  APPROVED: 'approved this',
  REQUEST_CHANGES: 'requested changes',
  COMMENT: 'reviewed this',
  PENDING: 'started a review that is not submitted yet',
  REQUEST_REVIEW: 'was asked for a review',
}

/** Level of the heading above the reviews. */
const HEADINGS_BELOW = 3

function OneReview(props: ReviewsProps & ShownReview): JSX.Element {
  const { context, grant, shown, review, comments } = props
  const { reviewerId, teamId, state, isDismissed, content, createdAtMs } = review
  const base = context.settings.http.basePath
  const text = (of: Review | ReviewComment) => <Written text={of.content} drawn={shown.drawn} />
  return (
    <div class="review">
      <p>
        {teamId === undefined ? (
          <Author base={base} viewer={grant.user} person={shown.people.get(reviewerId ?? 0)} />
        ) : (
          <>
            The team <Shown text={shown.teams.get(teamId)?.name ?? ''} />
          </>
        )}
        {` ${VERBS[state]} `}
        <Ago atMs={createdAtMs} />
        {isDismissed && ' (dismissed)'}
      </p>
      {content !== '' && text(review)}
      {comments.map((comment) => (
        <div class="line-comment">
          <p class="quiet">
            <code>
              <Shown text={comment.path} />
            </code>
            {comment.line < 0 ? `, line ${-comment.line} before` : `, line ${comment.line}`}
          </p>
          {text(comment)}
        </div>
      ))}
    </div>
  )
}
