/** Milestones: found by id or title, counted, closed and deleted. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { createIssue, findIssue } from '../../../sql/issues/issues.js'
import {
  createMilestone,
  deleteMilestone,
  findMilestone,
  listMilestones,
  type NewMilestone,
  updateMilestone,
} from '../../../sql/issues/milestones.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function aPlan(db: Database) {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const notes = await aRepository(db, ada.id, 'notes')
  const add = (title: string, changes: Partial<NewMilestone> = {}) =>
    createMilestone(db, {
      repositoryId,
      title,
      description: 'd',
      state: 'open',
      dueAtMs: undefined,
      ...changes,
    })
  return { ada, repositoryId, notes, add }
}

await forEachMigrated(t, 'a milestone is found by id, or else by title', async (t, db) => {
  const { repositoryId, notes, add } = await aPlan(db)
  const first = await add('v1')
  t.match(first, { title: 'v1', description: 'd', state: 'open', openIssues: 0, closedIssues: 0 })
  t.strictSame(await findMilestone(db, repositoryId, String(first.id)), first)
  t.strictSame(await findMilestone(db, repositoryId, 'v1'), first)
  for (const text of ['V1', 'v1 ', '', '0', '-1', '1e0', '9'.repeat(400), '%']) {
    t.equal(await findMilestone(db, repositoryId, text), undefined, text.slice(0, 9))
  }
  const other = await add('v1', { repositoryId: notes.id })
  t.equal(await findMilestone(db, repositoryId, String(other.id)), undefined, 'another repository')
  const named = await add(String(first.id))
  t.equal(
    (await findMilestone(db, repositoryId, String(first.id)))?.id,
    first.id,
    'the id takes precedence',
  )
  t.equal((await findMilestone(db, repositoryId, String(named.id)))?.id, named.id)
  const gone = { failure: 'not_found', message: 'The repository does not exist.' }
  await t.rejects(add('x', { repositoryId: 99 }), gone)
})

await forEachMigrated(
  t,
  'a milestone counts its issues, is closed and is deleted',
  async (t, db) => {
    const { ada, repositoryId, add } = await aPlan(db)
    const { id } = await add('v1')
    const fields = { title: 't', content: '', authorId: ada.id, milestoneId: id }
    await createIssue(db, { ...fields, repositoryId, isPull: false })
    await createIssue(db, { ...fields, repositoryId, isPull: true })
    await createIssue(db, { ...fields, repositoryId, isPull: false, state: 'closed' })
    t.match(await findMilestone(db, repositoryId, 'v1'), { openIssues: 2, closedIssues: 1 })
    const closed = await updateMilestone(db, id, { state: 'closed', dueAtMs: 1_000 })
    t.match(closed, { title: 'v1', state: 'closed', dueAtMs: 1_000, closedAtMs: Number })
    const renamed = await updateMilestone(db, id, { title: 'v2', description: '' })
    t.match(renamed, {
      title: 'v2',
      description: '',
      closedAtMs: closed.closedAtMs,
      dueAtMs: 1_000,
    })
    t.match(await updateMilestone(db, id, { state: 'open' }), { closedAtMs: undefined })
    t.equal(await deleteMilestone(db, id), true)
    t.equal(await deleteMilestone(db, id), false)
    t.equal((await findIssue(db, repositoryId, 1))?.milestoneId, undefined, 'its issues are kept')
    const gone = { failure: 'not_found', message: 'The milestone does not exist.' }
    await t.rejects(updateMilestone(db, id, { title: 'x' }), gone)
  },
)

await forEachMigrated(t, 'milestones are listed by state, title and due date', async (t, db) => {
  const { repositoryId, notes, add } = await aPlan(db)
  await add('Late', { dueAtMs: 2_000 })
  await add('never')
  await add('soon', { dueAtMs: 1_000 })
  await add('done', { state: 'closed' })
  await add('other', { repositoryId: notes.id })
  const listed = async (
    question: { state?: 'open' | 'closed'; title?: string },
    page = { page: 1, limit: 50 },
  ) => {
    const { entries, total } = await listMilestones(db, { repositoryId, ...question, page })
    return `${entries.map(({ title }) => title).join()} of ${total}`
  }
  t.equal(await listed({}), 'soon,Late,never,done of 4')
  t.equal(await listed({ state: 'open' }), 'soon,Late,never of 3')
  t.equal(await listed({ state: 'closed' }), 'done of 1')
  t.equal(await listed({ title: 'LATE' }), 'Late of 1')
  t.equal(await listed({ title: '%' }), ' of 0')
  t.equal(await listed({}, { page: 2, limit: 3 }), 'done of 4')
})
