/** Reactions: one of each kind per user, on issues and comments. */

import { t } from 'tap'
import { createComment } from '../../../sql/issues/comments.js'
import { createIssue } from '../../../sql/issues/issues.js'
import {
  addReaction,
  findReaction,
  listReactions,
  removeReaction,
} from '../../../sql/issues/reactions.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'a reaction is added once and removed', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const fields = { repositoryId, title: 't', content: '', authorId: ada.id }
  const issue = await createIssue(db, { ...fields, isPull: false })
  const comment = await createComment(db, { issueId: issue.id, authorId: ada.id, content: 'c' })
  for (const subject of [{ issueId: issue.id }, { commentId: comment.id }]) {
    const of = (user: { id: number }, content: string) => ({ userId: user.id, content })
    t.equal(await addReaction(db, subject, of(ada, '+1')), true)
    t.equal(await addReaction(db, subject, of(ada, '+1')), false)
    t.equal(await addReaction(db, subject, of(bob, '+1')), true)
    t.equal(await addReaction(db, subject, of(ada, 'heart')), true)
    const listed = async (page = { page: 1, limit: 50 }) => {
      const { entries, total } = await listReactions(db, subject, page)
      return `${entries.map(({ user, content }) => user.name + content).join()} of ${total}`
    }
    t.equal(await listed(), 'ada+1,bob+1,adaheart of 3')
    t.equal(await listed({ page: 2, limit: 2 }), 'adaheart of 3')
    t.match(await findReaction(db, subject, { user: bob, content: '+1' }), { createdAtMs: Number })
    t.equal(await findReaction(db, subject, { user: bob, content: 'heart' }), undefined)
    t.equal(await removeReaction(db, subject, of(ada, '+1')), true)
    t.equal(await removeReaction(db, subject, of(ada, '+1')), false)
    t.equal(await listed(), 'bob+1,adaheart of 2')
    const gone = Object.fromEntries(Object.keys(subject).map((key) => [key, 99])) as typeof subject
    await t.rejects(addReaction(db, gone, of(ada, '+1')), {
      failure: 'not_found',
      message: 'The issue or comment does not exist.',
    })
  }
})
