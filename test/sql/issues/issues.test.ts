/** Issues: unique numbers, partial changes, and deletion of a repository or author. */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { transaction } from '../../../sql/database/database.js'
import { createComment } from '../../../sql/issues/comments.js'
import { addIssueLabels } from '../../../sql/issues/issue-labels.js'
import {
  countOpenIssues,
  createIssue,
  deleteIssue,
  findIssue,
  type NewIssue,
  touchIssue,
  updateIssue,
} from '../../../sql/issues/issues.js'
import { createLabel } from '../../../sql/issues/labels.js'
import { createMilestone } from '../../../sql/issues/milestones.js'
import { addReaction } from '../../../sql/issues/reactions.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function aTracker(db: Database) {
  const ada = await aUser(db, 'ada')
  const engine = await aRepository(db, ada.id, 'engine')
  const open = (changes: Partial<NewIssue> = {}, where: Database = db) =>
    createIssue(where, {
      repositoryId: engine.id,
      isPull: false,
      title: 'a title',
      content: 'a text',
      authorId: ada.id,
      ...changes,
    })
  return { ada, engine, open }
}

const GONE = { failure: 'not_found', message: 'The repository does not exist.' }

await forEachMigrated(t, 'an issue is created, found and changed', async (t, db) => {
  const { ada, engine, open } = await aTracker(db)
  const beforeMs = Date.now()
  const issue = await open({ ref: 'main', dueAtMs: 1_000 })
  t.match(issue, {
    repositoryId: engine.id,
    number: 1,
    isPull: false,
    title: 'a title',
    content: 'a text',
    authorId: ada.id,
    state: 'open',
    milestoneId: undefined,
    ref: 'main',
    dueAtMs: 1_000,
    isLocked: false,
    commentsCount: 0,
    closedAtMs: undefined,
  })
  t.ok(issue.createdAtMs >= beforeMs)
  t.equal(issue.updatedAtMs, issue.createdAtMs)
  t.strictSame(await findIssue(db, engine.id, 1), issue)
  t.equal(await findIssue(db, engine.id, 2), undefined)
  t.equal(await findIssue(db, engine.id + 1, 1), undefined)

  const patch = { title: 'näive ☃ 𝄞', state: 'closed', dueAtMs: null, isLocked: true } as const
  t.strictSame(
    (await updateIssue(db, issue.id, patch)).before,
    issue,
    'the issue before the change',
  )
  const closed = await findIssue(db, engine.id, 1)
  t.match(closed, { title: 'näive ☃ 𝄞', state: 'closed', dueAtMs: undefined, isLocked: true })
  t.match(closed, { content: 'a text', ref: 'main' }, 'other fields are unchanged')
  t.ok((closed?.closedAtMs ?? 0) >= beforeMs)
  await updateIssue(db, issue.id, { state: 'closed' })
  t.equal(
    (await findIssue(db, engine.id, 1))?.closedAtMs,
    closed?.closedAtMs,
    'the time of closing is unchanged',
  )
  await updateIssue(db, issue.id, { state: 'open' })
  t.match(await findIssue(db, engine.id, 1), { state: 'open', closedAtMs: undefined })
  const absent = { failure: 'not_found', message: 'The issue does not exist.' }
  await t.rejects(updateIssue(db, issue.id + 1, { title: 'x' }), absent)
  t.match(await open({ state: 'closed' }), { number: 2, state: 'closed', closedAtMs: Number })
  await db('issues').update({ updated_at: 1 })
  await touchIssue(db, issue.id)
  t.ok(((await findIssue(db, engine.id, 1))?.updatedAtMs ?? 0) >= beforeMs)
})

await forEachMigrated(t, '50 concurrent issues get the numbers 1 to 50', async (t, db) => {
  const { open } = await aTracker(db)
  const issues = await Promise.all(
    Array.from({ length: 50 }, (_, n) => open({ isPull: n % 3 === 0, title: `${n}` })),
  )
  const numbers = issues.map(({ number }) => number).sort((one, other) => one - other)
  t.strictSame(
    numbers,
    Array.from({ length: 50 }, (_, n) => n + 1),
  )
  t.equal(new Set(issues.map(({ title }) => title)).size, 50)
})

await forEachMigrated(t, 'an issue number is given once per repository', async (t, db) => {
  const { ada, engine, open } = await aTracker(db)
  const notes = await aRepository(db, ada.id, 'notes')
  const first = await open()
  const pull = await open({ isPull: true })
  t.match(pull, { number: 2, isPull: true })
  t.equal((await open({ repositoryId: notes.id })).number, 1, 'numbers are per repository')
  t.equal(await deleteIssue(db, pull.id), true)
  t.equal(await deleteIssue(db, pull.id), false)
  t.equal((await open()).number, 3, 'the number of a deleted issue is not reused')
  const refused = transaction(db, async (trx) => {
    await open({ isPull: true }, trx)
    throw new Error('the branch is missing')
  })
  await t.rejects(refused, { message: 'the branch is missing' })
  const inside = await transaction(db, (trx) => open({ isPull: true }, trx))
  t.equal(inside.number, 4, 'a rolled-back issue used no number')
  t.strictSame((await countOpenIssues(db, [engine.id, notes.id]))(engine.id), {
    issues: 2,
    pulls: 1,
  })
  await updateIssue(db, first.id, { state: 'closed' })
  t.strictSame((await countOpenIssues(db, [engine.id, notes.id]))(engine.id), {
    issues: 1,
    pulls: 1,
  })
  t.strictSame((await countOpenIssues(db, []))(engine.id), { issues: 0, pulls: 0 })
})

await forEachMigrated(
  t,
  'milestones and labels of another repository are refused',
  async (t, db) => {
    const { ada, engine, open } = await aTracker(db)
    const notes = await aRepository(db, ada.id, 'notes')
    const milestone = { title: 'm', description: '', state: 'open', dueAtMs: undefined } as const
    const own = await createMilestone(db, { ...milestone, repositoryId: engine.id })
    const other = await createMilestone(db, { ...milestone, repositoryId: notes.id })
    const label = { name: 'l', color: '00aabb', description: '' }
    const flags = { isExclusive: false, isArchived: false }
    const foreign = await createLabel(db, { repositoryId: notes.id }, { ...label, ...flags })
    const issue = await open({ milestoneId: own.id })
    t.equal(issue.milestoneId, own.id)
    const noMilestone = { failure: 'invalid', message: 'The milestone does not exist.' }
    await t.rejects(open({ milestoneId: other.id }), noMilestone)
    await t.rejects(updateIssue(db, issue.id, { milestoneId: other.id }), noMilestone)
    const noLabel = { failure: 'invalid', message: `The label ${foreign.id} does not exist.` }
    await t.rejects(open({ labelIds: [foreign.id] }), noLabel)
    t.equal((await open()).number, 2, 'the refused issue used no number')
    await updateIssue(db, issue.id, { milestoneId: null })
    t.equal((await findIssue(db, engine.id, 1))?.milestoneId, undefined)
  },
)

await forEachMigrated(
  t,
  'an issue is deleted with its repository and kept without its author',
  async (t, db) => {
    const { ada, engine, open } = await aTracker(db)
    const bob = await aUser(db, 'bob')
    const label = await createLabel(
      db,
      { repositoryId: engine.id },
      { name: 'l', color: '00aabb', description: '', isExclusive: false, isArchived: false },
    )
    const milestone = await createMilestone(db, {
      repositoryId: engine.id,
      title: 'm',
      description: '',
      state: 'open',
      dueAtMs: undefined,
    })
    const issue = await open({
      authorId: bob.id,
      milestoneId: milestone.id,
      assigneeIds: [ada.id, bob.id],
      content: 'for @ada and @bob',
    })
    await addIssueLabels(db, { id: issue.id, repositoryId: engine.id }, [label.id])
    const comment = await createComment(db, { issueId: issue.id, authorId: bob.id, content: 'so' })
    for (const user of [ada, bob]) {
      await addReaction(db, { issueId: issue.id }, { userId: user.id, content: '+1' })
      await addReaction(db, { commentId: comment.id }, { userId: user.id, content: '+1' })
    }
    await deleteUser(db, bob.id)
    t.match(await findIssue(db, engine.id, 1), { authorId: undefined, commentsCount: 1 })
    const links = ['issue_assignees', 'issue_mentions', 'issue_reactions', 'comment_reactions']
    for (const table of links) t.equal((await db(table)).length, 1, table)
    t.equal(await deleteRepository(db, engine.id), true)
    for (const table of [...links, 'issues', 'issue_numbers', 'issue_labels', 'labels']) {
      t.strictSame(await db(table), [], table)
    }
    for (const table of ['milestones', 'comments']) t.strictSame(await db(table), [], table)
    await t.rejects(open(), GONE)
  },
)

await forEachMigrated(
  t,
  'an issue created while its repository is deleted leaves no rows',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    for (let n = 0; n < 8; n += 1) {
      const { id } = await aRepository(db, ada.id, `r${n}`)
      const issue = { repositoryId: id, isPull: false, title: 't', content: '', authorId: ada.id }
      const open = () => createIssue(db, issue)
      const remove = () => deleteRepository(db, id)
      const [first, second] = n % 2 === 0 ? [open(), remove()] : [remove(), open()]
      for (const outcome of await Promise.allSettled([first, second])) {
        if (outcome.status === 'rejected') t.match(outcome.reason, GONE)
      }
    }
    t.strictSame(await db('issues'), [])
  },
)
