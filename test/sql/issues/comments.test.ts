/** Comments: created, listed by issue and by repository, changed and deleted. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  createComment,
  deleteComment,
  findComment,
  listComments,
  listRepositoryComments,
  updateComment,
} from '../../../sql/issues/comments.js'
import { createIssue, findIssue } from '../../../sql/issues/issues.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function aTalk(db: Database) {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const fields = { repositoryId, title: 't', content: '', authorId: ada.id }
  const issue = await createIssue(db, { ...fields, isPull: false })
  const pull = await createIssue(db, { ...fields, isPull: true })
  const say = (content: string, issueId = issue.id) =>
    createComment(db, { issueId, authorId: ada.id, content })
  return { ada, repositoryId, issue, pull, say }
}

await forEachMigrated(t, 'a comment is created, changed and deleted', async (t, db) => {
  const { ada, repositoryId, issue, pull, say } = await aTalk(db)
  const first = await say('so')
  t.match(first, { issueId: issue.id, issueNumber: 1, isPull: false, authorId: ada.id })
  t.match(await say('so', pull.id), { issueNumber: 2, isPull: true })
  t.strictSame(await findComment(db, repositoryId, first.id), first)
  t.equal(await findComment(db, repositoryId + 1, first.id), undefined, 'another repository')
  t.equal((await findIssue(db, repositoryId, 1))?.commentsCount, 1)
  await db('comments').update({ updated_at: 1 })
  t.equal(await updateComment(db, first, 'not so, @ada'), true)
  t.match(await findComment(db, repositoryId, first.id), { content: 'not so, @ada' })
  t.equal((await db('issue_mentions')).length, 1)
  t.ok(((await findComment(db, repositoryId, first.id))?.updatedAtMs ?? 0) >= first.createdAtMs)
  t.equal(await deleteComment(db, first.id), true)
  t.equal(await deleteComment(db, first.id), false)
  t.equal(await updateComment(db, first, 'x'), false)
  t.equal((await findIssue(db, repositoryId, 1))?.commentsCount, 0)
  await t.rejects(say('x', 99), { failure: 'not_found', message: 'The issue does not exist.' })
})

await forEachMigrated(t, 'comments are listed by time, the oldest first', async (t, db) => {
  const { repositoryId, issue, pull, say } = await aTalk(db)
  await say('a')
  await say('b', pull.id)
  await say('c')
  await db('comments').update({ updated_at: db.raw('id * 1000') })
  const contents = (comments: readonly { content: string }[]) =>
    comments.map(({ content }) => content).join()
  t.equal(contents(await listComments(db, issue.id, {})), 'a,c')
  const page = { page: 2, limit: 1 }
  t.equal(contents(await listComments(db, issue.id, { page })), 'c')
  const [first] = await listComments(db, issue.id, {})
  const sinceMs = (first?.updatedAtMs ?? 0) + 1
  t.equal(contents(await listComments(db, issue.id, { sinceMs })), 'c')
  t.equal(contents(await listComments(db, issue.id, { beforeMs: sinceMs })), 'a')
  const all = async (isPull: boolean | undefined, page = { page: 1, limit: 50 }, since = 0) => {
    const question = { page, isPull, sinceMs: since }
    const { entries, total } = await listRepositoryComments(db, repositoryId, question)
    return `${contents(entries)} of ${total}`
  }
  t.equal(await all(undefined), 'a,b,c of 3')
  t.equal(await all(true), 'b of 1')
  t.equal(await all(false), 'a,c of 2')
  t.equal(await all(undefined, { page: 2, limit: 2 }), 'c of 3')
  t.equal(await all(undefined, { page: 1, limit: 50 }, sinceMs), 'b,c of 2')
})
