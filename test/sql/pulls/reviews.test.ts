/**
 * Reviews: drafts belong to their author, requests are answered, and comments belong to a review.
 */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { createPull } from '../../../sql/pulls/pulls.js'
import {
  countReviewComments,
  createReview,
  deleteReview,
  findReview,
  listReviewComments,
  listReviews,
  type ReviewState,
  removeRequest,
  requestsOfPulls,
  submitReview,
} from '../../../sql/pulls/reviews.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 50 }
const COMMENT = { path: 'a/b', line: -3, commitId: 'c', diffHunk: '@@', content: 'Why?' }

async function aPull(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'r')
  const { pull } = await createPull(db, {
    issue: { title: 'x', content: '', authorId: ada.id },
    targets: { repositoryId, headRepositoryId: repositoryId, headBranch: 'a', baseBranch: 'b' },
    headCommit: '',
    mergeBase: '',
    allowsMaintainerEdit: false,
  })
  const pullId = pull.id
  const write = (reviewerId: number, state: ReviewState, comments = [COMMENT]) =>
    createReview(db, {
      pullId,
      reviewerId,
      state,
      comments,
      content: 'x',
      commitId: 'c',
      isOfficial: true,
    })
  const list = async (viewerId?: number) => {
    const { entries, total } = await listReviews(db, pullId, { page: PAGE, viewerId })
    return [entries.map(({ state }) => state).join(), total]
  }
  return { ada, bob, pullId, write, list }
}

await forEachMigrated(t, 'a review has its comments and is deleted with them', async (t, db) => {
  const { bob, pullId, write, list } = await aPull(db)
  const review = await write(bob.id, 'COMMENT')
  await write(bob.id, 'COMMENT', [])
  t.match(review, { state: 'COMMENT', content: 'x', commentsCount: 1, isOfficial: true })
  t.strictSame(await findReview(db, pullId, review.id), review)
  t.equal(await findReview(db, pullId + 1, review.id), undefined)
  t.match(await listReviewComments(db, review.id), [{ ...COMMENT, reviewId: review.id }])
  t.equal((await countReviewComments(db, [pullId])).get(pullId), 1)
  t.equal((await countReviewComments(db, [])).size, 0)
  t.strictSame(await list(), ['COMMENT,COMMENT', 2])
  t.equal(await deleteReview(db, review.id), true)
  t.equal(await deleteReview(db, review.id), false)
  t.strictSame(await listReviewComments(db, review.id), [])
})

await forEachMigrated(
  t,
  'a draft is visible to its author only until it is submitted',
  async (t, db) => {
    const { ada, bob, pullId, write, list } = await aPull(db)
    const draft = await write(bob.id, 'PENDING')
    t.strictSame(await list(bob.id), ['PENDING', 1])
    t.strictSame(await list(ada.id), ['', 0])
    t.strictSame(await list(), ['', 0])
    t.equal((await countReviewComments(db, [pullId])).get(pullId), undefined)
    t.match(await write(bob.id, 'PENDING'), { id: draft.id, commentsCount: 2 })
    await write(ada.id, 'PENDING')
    const input = { state: 'APPROVED', content: 'Good', commitId: 'd' } as const
    t.match(await submitReview(db, draft, input), { ...input, commentsCount: 2 })
    t.equal(await submitReview(db, draft, input), undefined, 'only once')
    t.match(await write(bob.id, 'PENDING'), { state: 'PENDING' }, 'another draft can be begun')
  },
)

await forEachMigrated(t, "a review request ends with the reviewer's review", async (t, db) => {
  const { ada, bob, pullId, write, list } = await aPull(db)
  const asked = async () =>
    ((await requestsOfPulls(db, [pullId])).get(pullId) ?? []).map(({ reviewerId }) => reviewerId)
  await write(ada.id, 'REQUEST_REVIEW', [])
  await write(bob.id, 'REQUEST_REVIEW', [])
  await t.rejects(write(bob.id, 'REQUEST_REVIEW', []), { name: 'Error', failure: 'conflict' })
  t.strictSame(await asked(), [ada.id, bob.id])
  const draft = await write(bob.id, 'PENDING')
  t.strictSame(await asked(), [ada.id, bob.id], 'a draft does not end a request')
  await submitReview(db, draft, { state: 'COMMENT', content: '', commitId: '' })
  t.strictSame(await asked(), [ada.id])
  t.equal(await removeRequest(db, { pullId, reviewerId: ada.id }), true)
  t.equal(await removeRequest(db, { pullId, reviewerId: ada.id }), false)
  t.strictSame(await asked(), [])
  await write(bob.id, 'REQUEST_REVIEW', [])
  await write(bob.id, 'APPROVED')
  t.strictSame(await list(), ['COMMENT,APPROVED', 2])
  await deleteUser(db, bob.id)
  t.match(await listReviews(db, pullId, { page: PAGE, viewerId: undefined }), {
    entries: [{ reviewerId: undefined }, { reviewerId: undefined }],
  })
})
