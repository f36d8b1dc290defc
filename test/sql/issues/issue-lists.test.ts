/** Lists of issues: each filter alone and combined, in pages, newest first. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { type IssueFilter, listIssues } from '../../../sql/issues/issue-lists.js'
import { createIssue, type NewIssue } from '../../../sql/issues/issues.js'
import { createLabel } from '../../../sql/issues/labels.js'
import { createMilestone } from '../../../sql/issues/milestones.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function aTracker(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const engine = await aRepository(db, ada.id, 'engine')
  const notes = await aRepository(db, ada.id, 'notes')
  const open = (changes: Partial<NewIssue>) =>
    createIssue(db, {
      repositoryId: engine.id,
      isPull: false,
      title: 't',
      content: '',
      authorId: ada.id,
      ...changes,
    })
  const label = (name: string) =>
    createLabel(
      db,
      { repositoryId: engine.id },
      { name, color: '00aabb', description: '', isExclusive: false, isArchived: false },
    )
  const milestone = (repositoryId: number, title: string) =>
    createMilestone(db, {
      repositoryId,
      title,
      description: '',
      state: 'open',
      dueAtMs: undefined,
    })
  const listed = async (filter: IssueFilter, page = { page: 1, limit: 50 }) => {
    const { entries, total } = await listIssues(db, engine.id, { ...filter, page })
    return `${entries.map(({ number }) => number).join()} of ${total}`
  }
  return { ada, bob, engine, notes, open, label, milestone, listed }
}

await forEachMigrated(t, 'each filter finds the matching issues', async (t, db) => {
  const { ada, bob, engine, notes, open, label, milestone, listed } = await aTracker(db)
  const [a, b] = [await label('a'), await label('b')]
  const twin = await label('a')
  const m = await milestone(engine.id, 'm')
  const year = await milestone(engine.id, String(m.id))
  await milestone(notes.id, 'elsewhere')
  await open({ title: 'Straße 100%', labelIds: [a.id, twin.id], milestoneId: m.id })
  await open({ isPull: true, authorId: bob.id, content: 'for @ada', labelIds: [a.id, b.id] })
  await open({ state: 'closed', assigneeIds: [bob.id], milestoneId: year.id, labelIds: [twin.id] })
  await open({ repositoryId: notes.id })
  await db('issues').update({ updated_at: db.raw('number * 1000') })
  for (const [numbers, filter] of [
    ['3,2,1 of 3', {}] as const,
    ['2 of 1', { isPull: true }] as const,
    ['3,1 of 2', { isPull: false }] as const,
    ['3 of 1', { state: 'closed' }] as const,
    ['2,1 of 2', { state: 'open' }] as const,
    ['3,2,1 of 3', { labels: ['a'] }] as const,
    ['2 of 1', { labels: ['b', 'a', 'b'] }] as const,
    [' of 0', { labels: ['A'] }] as const,
    ['1 of 1', { milestones: ['m'] }] as const,
    [' of 0', { milestones: ['x'] }] as const,
    ['3,1 of 2', { milestones: [String(m.id)] }] as const,
    ['3,1 of 2', { milestones: ['x', 'm', String(year.id)] }] as const,
    ['1 of 1', { text: 'STRAß' }] as const,
    ['1 of 1', { text: '%' }] as const,
    ['2 of 1', { text: 'FOR' }] as const,
    [' of 0', { text: '_' }] as const,
    ['3,2 of 2', { sinceMs: 2_000 }] as const,
    ['1 of 1', { beforeMs: 2_000 }] as const,
    ['2 of 1', { authorId: bob.id }] as const,
    ['3 of 1', { assigneeId: bob.id }] as const,
    ['2 of 1', { mentionedId: ada.id }] as const,
    ['2 of 1', { state: 'open', labels: ['a'], authorId: bob.id, sinceMs: 1 }] as const,
  ]) {
    t.equal(await listed(filter), numbers, JSON.stringify(filter))
  }
})

await forEachMigrated(t, 'issues are listed newest first, in pages', async (t, db) => {
  const { open, listed } = await aTracker(db)
  for (let n = 1; n <= 5; n += 1) await open({})
  await db('issues').where({ number: 2 }).update({ created_at: 9_000_000_000_000 })
  t.equal(await listed({}, { page: 1, limit: 2 }), '2,5 of 5')
  t.equal(await listed({}, { page: 3, limit: 2 }), '1 of 5')
  t.equal(await listed({}, { page: 4, limit: 2 }), ' of 5')
  const names = Array.from({ length: 3_000 }, (_, n) => `l${n}`)
  t.equal(
    await listed({ labels: names, milestones: names }),
    ' of 0',
    'also with thousands of names',
  )
})
