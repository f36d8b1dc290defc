/** Lists of pull requests: filters and orders. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { createComment } from '../../../sql/issues/comments.js'
import { createIssue, updateIssue } from '../../../sql/issues/issues.js'
import { createLabel } from '../../../sql/issues/labels.js'
import { createMilestone } from '../../../sql/issues/milestones.js'
import { findPullBetween, listPulls, type PullQuery } from '../../../sql/pulls/pull-lists.js'
import { createPull } from '../../../sql/pulls/pulls.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const ALL: PullQuery = {
  page: { page: 1, limit: 50 },
  state: 'all',
  order: 'oldest',
  labelIds: [],
}
const NOTHING = { description: '', isExclusive: false, isArchived: false, color: '000000' }

async function aList(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'r')
  const { id: elsewhere } = await aRepository(db, ada.id, 'elsewhere')
  const label = async (name: string) =>
    (await createLabel(db, { repositoryId }, { ...NOTHING, name })).id
  const labels = [await label('one'), await label('two')]
  const milestone = await createMilestone(db, {
    repositoryId,
    title: 'm',
    description: '',
    state: 'open',
    dueAtMs: undefined,
  })
  const open = (headBranch: string, authorId: number, extra = {}, place = repositoryId) =>
    createPull(db, {
      issue: { title: headBranch, content: '', authorId, ...extra },
      targets: {
        repositoryId: place,
        headRepositoryId: place,
        headBranch,
        baseBranch: headBranch === 'c' ? 'other' : 'main',
      },
      headCommit: '',
      mergeBase: '',
      allowsMaintainerEdit: false,
    })
  const a = await open('a', ada.id, { labelIds: labels })
  await createIssue(db, { repositoryId, isPull: false, title: 'x', content: '', authorId: ada.id })
  const b = await open('b', bob.id, { labelIds: labels.slice(1), milestoneId: milestone.id })
  const c = await open('c', ada.id)
  await open('a', ada.id, {}, elsewhere)
  const list = async (question: Partial<PullQuery>) => {
    const { entries, total } = await listPulls(db, repositoryId, { ...ALL, ...question })
    return [entries.map(({ pull }) => pull.headBranch).join(''), total]
  }
  return { ada, bob, repositoryId, labels, milestone, a, b, c, list }
}

await forEachMigrated(t, 'filters find the matching pull requests and no issues', async (t, db) => {
  const { bob, labels, milestone, b, list } = await aList(db)
  t.strictSame(await list({}), ['abc', 3])
  t.strictSame(await list({ page: { page: 2, limit: 2 } }), ['c', 3])
  t.strictSame(await list({ authorId: bob.id }), ['b', 1])
  t.strictSame(await list({ baseBranch: 'other' }), ['c', 1])
  t.strictSame(await list({ milestoneId: milestone.id }), ['b', 1])
  t.strictSame(await list({ labelIds: labels.slice(1) }), ['ab', 2])
  t.strictSame(await list({ labelIds: labels }), ['a', 1], 'all of the labels')
  await updateIssue(db, b.issue.id, { state: 'closed' })
  t.strictSame(await list({ state: 'open' }), ['ac', 2])
  t.strictSame(await list({ state: 'closed', order: 'recentclose' }), ['b', 1])
})

await forEachMigrated(t, 'each order sorts by its field', async (t, db) => {
  const { ada, a, b, list } = await aList(db)
  await createComment(db, { issueId: b.issue.id, authorId: ada.id, content: 'x' })
  await db('issues').where({ id: a.issue.id }).update({ updated_at: 9e12, created_at: 1 })
  await db('issues').where({ id: b.issue.id }).update({ updated_at: 1 })
  t.strictSame(await list({ order: 'newest' }), ['cba', 3])
  t.strictSame(await list({ order: 'oldest' }), ['abc', 3])
  t.strictSame(await list({ order: 'recentupdate' }), ['acb', 3])
  t.strictSame(await list({ order: 'leastupdate' }), ['bca', 3])
  t.strictSame(await list({ order: 'mostcomment' }), ['bca', 3])
  t.strictSame(await list({ order: 'leastcomment' }), ['cab', 3])
})

await forEachMigrated(
  t,
  'of two branches the open pull request is found before a closed one',
  async (t, db) => {
    const { ada, repositoryId, a } = await aList(db)
    const find = (head: string, base = 'main') =>
      findPullBetween(db, repositoryId, { base, head, headRepositoryId: repositoryId })
    t.match(await find('a'), a)
    t.equal(await find('A'), undefined)
    t.equal(await find('a', 'other'), undefined)
    await updateIssue(db, a.issue.id, { state: 'closed' })
    t.match(await find('a'), { pull: { id: a.pull.id } }, 'a closed one if none is open')
    const targets = { ...a.pull }
    const again = await createPull(db, {
      issue: { title: 'again', content: '', authorId: ada.id },
      targets,
      headCommit: '',
      mergeBase: '',
      allowsMaintainerEdit: false,
    })
    t.match(await find('a'), { pull: { id: again.pull.id } })
  },
)
