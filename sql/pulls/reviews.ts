/** Reviews of pull requests, their line comments, and review requests. */

import type { Knex } from 'knex'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { recordReviewEvent } from './review-events.js'

export type ReviewState = 'APPROVED' | 'PENDING' | 'COMMENT' | 'REQUEST_CHANGES' | 'REQUEST_REVIEW'

export interface Review {
  readonly id: number
  readonly pullId: number
  /** Undefined if the account was deleted, or if the review is requested from a team. */
  readonly reviewerId: number | undefined
  /** Team that the review is requested from. */
  readonly teamId: number | undefined
  readonly state: ReviewState
  readonly content: string
  /** Head commit that was reviewed. */
  readonly commitId: string
  /**
   * True if the review counts: the reviewer is in the approvals list of the branch's rule, or can
   * write to the repository if there is no such list.
   */
  readonly isOfficial: boolean
  readonly isDismissed: boolean
  readonly commentsCount: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface ReviewComment {
  readonly id: number
  readonly reviewId: number
  readonly path: string
  /** Line number in the new file; a negative number is a line of the old file. */
  readonly line: number
  readonly commitId: string
  readonly diffHunk: string
  readonly content: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export type NewReviewComment = Pick<
  ReviewComment,
  'path' | 'line' | 'commitId' | 'diffHunk' | 'content'
>

export interface NewReview
  extends Pick<Review, 'pullId' | 'reviewerId' | 'state' | 'content' | 'commitId' | 'isOfficial'> {
  /** Team to request the review from, instead of a reviewer. */
  readonly teamId?: number
  readonly comments: readonly NewReviewComment[]
}

/** States that a reviewer can have once per pull request. */
const SOLE_STATES: readonly ReviewState[] = ['PENDING', 'REQUEST_REVIEW']

/**
 * Adds a review, and deletes the review requests that it answers. A second draft of the same
 * reviewer is added to the first. Throws `conflict` for a second request of the same reviewer.
 */
export async function createReview(db: Database, review: NewReview): Promise<Review> {
  return await transaction(db, async (trx) => {
    const { pullId, reviewerId, state } = review
    const isSole = SOLE_STATES.includes(state)
    if (!isSole) await answerRequests(trx, review)
    if (state === 'PENDING') {
      const draft = await extendDraft(trx, review)
      if (draft !== undefined) return draft
    }
    const nowMs = Date.now()
    const [id] = await orConflict(
      'This reviewer has a pending review or review request already.',
      () =>
        trx('reviews').insert({
          pull_id: pullId,
          reviewer_id: reviewerId ?? null,
          team_id: review.teamId ?? null,
          state,
          sole_state: isSole ? state : null,
          content: review.content,
          commit_id: review.commitId,
          is_official: review.isOfficial,
          is_dismissed: false,
          created_at: nowMs,
          updated_at: nowMs,
        }),
    )
    if (id === undefined) throw new Error('The insert returned no id.')
    await addComments(trx, id, review.comments)
    const created = await findReview(trx, pullId, id)
    if (created === undefined) throw new Error('The inserted review was not found.')
    if (!isSole) await recordReviewEvent(trx, created, { kind: 'review', actorId: reviewerId })
    return created
  })
}

/** Adds the comments and the text of a draft to that of the same reviewer, if there is one. */
async function extendDraft(
  trx: Database,
  { pullId, reviewerId, content, comments }: NewReview,
): Promise<Review | undefined> {
  const place = { pull_id: pullId, reviewer_id: reviewerId ?? null, sole_state: 'PENDING' }
  const draft = await trx('reviews').where(place).forUpdate().first('id')
  if (draft === undefined) return undefined
  const text = content === '' ? {} : { content }
  await trx('reviews')
    .where({ id: draft.id })
    .update({ ...text, updated_at: Date.now() })
  await addComments(trx, draft.id, comments)
  return await findReview(trx, pullId, draft.id)
}

async function addComments(
  trx: Database,
  reviewId: number,
  comments: readonly NewReviewComment[],
): Promise<void> {
  if (comments.length === 0) return
  const nowMs = Date.now()
  await trx('review_comments').insert(
    comments.map((comment) => ({
      review_id: reviewId,
      path: comment.path,
      line: comment.line,
      commit_id: comment.commitId,
      diff_hunk: comment.diffHunk,
      content: comment.content,
      created_at: nowMs,
      updated_at: nowMs,
    })),
  )
}

/** Publishes a draft. Returns the published review, or undefined if it is not a draft. */
export async function submitReview(
  db: Database,
  review: Review,
  { state, content, commitId }: Pick<Review, 'state' | 'content' | 'commitId'>,
): Promise<Review | undefined> {
  return await transaction(db, async (trx) => {
    const nowMs = Date.now()
    const changed = await trx('reviews').where({ id: review.id, state: 'PENDING' }).update({
      state,
      content,
      commit_id: commitId,
      sole_state: null,
      created_at: nowMs,
      updated_at: nowMs,
    })
    if (changed === 0) return undefined
    const { pullId, reviewerId } = review
    await answerRequests(trx, { pullId, reviewerId, state })
    await recordReviewEvent(trx, review, { kind: 'review', actorId: reviewerId })
    return await findReview(trx, pullId, review.id)
  })
}

/** Change of a review; with `hasPriors`, of all verdicts of its reviewer. */
export interface Dismissal {
  readonly isDismissed: boolean
  readonly hasPriors: boolean
}

/** Dismisses or restores a review, or with `hasPriors` all verdicts of its reviewer. */
export async function setDismissed(
  db: Database,
  review: Review,
  { isDismissed, hasPriors }: Dismissal,
): Promise<Review> {
  const reviews = hasPriors
    ? db('reviews')
        .where({ pull_id: review.pullId, reviewer_id: review.reviewerId ?? null })
        .whereIn('state', ['APPROVED', 'REQUEST_CHANGES'])
    : db('reviews').where({ id: review.id })
  await reviews.update({ is_dismissed: isDismissed, updated_at: Date.now() })
  return { ...review, isDismissed }
}

/** Deletes a review with its comments. Returns false if there is no such review. */
export async function deleteReview(db: Database, reviewId: number): Promise<boolean> {
  return (await db('reviews').where({ id: reviewId }).delete()) > 0
}

/**
 * Deletes the request to the reviewer. An approval or a request for changes also answers the
 * requests to the reviewer's teams.
 */
async function answerRequests(
  trx: Database,
  { pullId, reviewerId, state }: Pick<Review, 'pullId' | 'reviewerId' | 'state'>,
): Promise<void> {
  if (reviewerId === undefined) return
  await removeRequest(trx, { pullId, reviewerId })
  if (state !== 'APPROVED' && state !== 'REQUEST_CHANGES') return
  await trx('reviews')
    .where({ pull_id: pullId, sole_state: 'REQUEST_REVIEW' })
    .whereIn('team_id', trx('team_members').where({ user_id: reviewerId }).select('team_id'))
    .delete()
}

type RequestedReview = { readonly pullId: number } & (
  | { readonly reviewerId: number }
  | { readonly teamId: number }
)

/** Deletes a review request to a user or a team. Returns false if there is none. */
export async function removeRequest(db: Database, request: RequestedReview): Promise<boolean> {
  const asked =
    'teamId' in request ? { team_id: request.teamId } : { reviewer_id: request.reviewerId }
  const removed = await db('reviews')
    .where({ pull_id: request.pullId, ...asked })
    .where({ sole_state: 'REQUEST_REVIEW' })
    .delete()
  return removed > 0
}

/** Returns a review of a pull request by its id. */
export async function findReview(
  db: Database,
  pullId: number,
  reviewId: number,
): Promise<Review | undefined> {
  const [found] = await selectReviews(db, 'where r.pull_id = ? and r.id = ?', [pullId, reviewId])
  return found
}

/**
 * Returns the reviews of a pull request, oldest first. Drafts of users other than the viewer are
 * left out.
 */
export async function listReviews(
  db: Database,
  pullId: number,
  { page, viewerId }: { readonly page: Page; readonly viewerId: number | undefined },
): Promise<Paged<Review>> {
  const where = `where r.pull_id = ? and (r.state <> 'PENDING' or r.reviewer_id = ?)`
  const bindings = [pullId, viewerId ?? 0]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from reviews r ${where}`,
    bindings,
  )
  const entries = await selectReviews(db, `${where} order by r.id limit ? offset ?`, [
    ...bindings,
    page.limit,
    offsetOf(page),
  ])
  return { entries, total: count?.total ?? 0 }
}

/** Returns the review requests of each pull request, by its id. */
export async function requestsOfPulls(
  db: Database,
  pullIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Review[]>> {
  const requests = new Map<number, Review[]>()
  if (pullIds.length === 0) return requests
  const rows = await selectReviews(
    db,
    `where r.sole_state = 'REQUEST_REVIEW' and r.pull_id in (${pullIds.map(() => '?').join()})
      order by r.id`,
    pullIds,
  )
  for (const row of rows) requests.set(row.pullId, [...(requests.get(row.pullId) ?? []), row])
  return requests
}

/**
 * Returns the review requests to users, and the last verdict of each reviewer unless it was
 * dismissed. If it was dismissed, earlier verdicts of the same reviewer do not count either.
 */
export async function listVerdicts(db: Database, pullId: number): Promise<readonly Review[]> {
  const rows = await selectReviews(
    db,
    `where r.pull_id = ? and r.reviewer_id is not null
      and r.state in ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW')
      order by r.created_at, r.id`,
    [pullId],
  )
  const requests = rows.filter(({ state }) => state === 'REQUEST_REVIEW')
  const verdicts = new Map<number | undefined, Review>()
  for (const row of rows) if (row.state !== 'REQUEST_REVIEW') verdicts.set(row.reviewerId, row)
  return [...requests, ...verdicts.values()].filter(({ isDismissed }) => !isDismissed)
}

/** Dismisses the approvals of all commits except one. */
export async function dismissApprovals(
  db: Database,
  pullId: number,
  exceptCommitId: string,
): Promise<void> {
  await db('reviews')
    .where({ pull_id: pullId, state: 'APPROVED', is_dismissed: false })
    .whereNot({ commit_id: exceptCommitId })
    .update({ is_dismissed: true, updated_at: Date.now() })
}

/**
 * Returns the number of line comments of each pull request, by its id. Comments of drafts are not
 * counted.
 */
export async function countReviewComments(
  db: Database,
  pullIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (pullIds.length === 0) return new Map()
  const rows = await selectRows<{ pull_id: number; total: number }>(
    db,
    `select r.pull_id, count(*) as total from review_comments c
      join reviews r on r.id = c.review_id
      where r.state <> 'PENDING' and r.pull_id in (${pullIds.map(() => '?').join()})
      group by r.pull_id`,
    pullIds,
  )
  return new Map(rows.map((row) => [row.pull_id, row.total]))
}

/** Returns the line comments of a review, oldest first. */
export async function listReviewComments(
  db: Database,
  reviewId: number,
): Promise<readonly ReviewComment[]> {
  const rows = await selectRows<CommentRow>(
    db,
    `select id, review_id, path, line, commit_id, diff_hunk, content, created_at, updated_at
      from review_comments where review_id = ? order by id`,
    [reviewId],
  )
  return rows.map((row) => ({
    id: row.id,
    reviewId: row.review_id,
    path: row.path,
    line: row.line,
    commitId: row.commit_id,
    diffHunk: row.diff_hunk,
    content: row.content,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  }))
}

interface CommentRow {
  readonly id: number
  readonly review_id: number
  readonly path: string
  readonly line: number
  readonly commit_id: string
  readonly diff_hunk: string
  readonly content: string
  readonly created_at: number
  readonly updated_at: number
}

const SELECT_REVIEWS = `select r.id, r.pull_id, r.reviewer_id, r.team_id, r.state, r.content,
  r.commit_id, r.is_official, r.is_dismissed, r.created_at, r.updated_at,
  (select count(*) from review_comments c where c.review_id = r.id) as comments_count
  from reviews r`

interface ReviewRow {
  readonly id: number
  readonly pull_id: number
  readonly reviewer_id: number | null
  readonly team_id: number | null
  readonly state: ReviewState
  readonly content: string
  readonly commit_id: string
  readonly is_official: number
  readonly is_dismissed: number
  readonly comments_count: number
  readonly created_at: number
  readonly updated_at: number
}

async function selectReviews(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Review[]> {
  const rows = await selectRows<ReviewRow>(db, `${SELECT_REVIEWS} ${condition}`, bindings)
  return rows.map((row) => ({
    id: row.id,
    pullId: row.pull_id,
    reviewerId: row.reviewer_id ?? undefined,
    teamId: row.team_id ?? undefined,
    state: row.state,
    content: row.content,
    commitId: row.commit_id,
    isOfficial: row.is_official === 1,
    isDismissed: row.is_dismissed === 1,
    commentsCount: row.comments_count,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  }))
}
