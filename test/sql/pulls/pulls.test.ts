/** Pull requests: one is open for each pair of branches, and each is merged once. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { findIssue, updateIssue } from '../../../sql/issues/issues.js'
import {
  createPull,
  findPull,
  findPulls,
  isHeadInUse,
  markMerged,
  setTargets,
  updatePull,
} from '../../../sql/pulls/pulls.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const ID = 'a'.repeat(40)
const TAKEN = { name: 'Error', failure: 'conflict', message: /^pull request already exists for/ }

async function openFixture(db: Database) {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'r')
  const targets = (headBranch: string, baseBranch = 'main') => ({
    repositoryId,
    headRepositoryId: repositoryId,
    headBranch,
    baseBranch,
  })
  const open = (headBranch: string, baseBranch?: string) =>
    createPull(db, {
      issue: { title: headBranch, content: '', authorId: ada.id },
      targets: targets(headBranch, baseBranch),
      headCommit: ID,
      mergeBase: 'b'.repeat(40),
      allowsMaintainerEdit: false,
    })
  return { ada, repositoryId, targets, open }
}

await forEachMigrated(t, 'a pull request is an issue with further fields', async (t, db) => {
  const { repositoryId, open } = await openFixture(db)
  const { issue, pull } = await open('topic')
  t.match(issue, { number: 1, isPull: true, state: 'open', title: 'topic' })
  t.match(pull, {
    issueId: issue.id,
    headBranch: 'topic',
    baseBranch: 'main',
    headCommit: ID,
    mergedAtMs: undefined,
    mergeCommit: undefined,
    checked: { isMergeable: false },
  })
  t.strictSame(await findPull(db, issue.id), pull)
  t.strictSame((await findPulls(db, [issue.id, 99])).get(issue.id), pull)
  t.equal((await findPulls(db, [])).size, 0)
  const checked = { base: ID, head: ID, isMergeable: true }
  await updatePull(db, pull.id, { checked, headCommit: 'c'.repeat(40) })
  await updatePull(db, pull.id, {})
  t.match(await findPull(db, issue.id), { checked, headCommit: 'c'.repeat(40), mergeBase: /^b/ })
  await deleteRepository(db, repositoryId)
  t.equal(await findPull(db, issue.id), undefined, 'it is deleted with its repository')
})

await forEachMigrated(
  t,
  'of concurrent pull requests for two branches one is opened',
  async (t, db) => {
    const { repositoryId, open, targets } = await openFixture(db)
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => open('topic')))
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of results) if (result.status === 'rejected') t.match(result.reason, TAKEN)
    const [first] = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (first === undefined) throw new Error('one was opened')
    t.match(await open('Topic'), { issue: { number: 2 } }, 'branch names are case-sensitive')
    t.match(await open('topic', 'other'), { pull: { baseBranch: 'other' } })
    await updateIssue(db, first.issue.id, { state: 'closed' })
    const second = await open('topic')
    await t.rejects(setTargets(db, first.issue, targets('topic')), TAKEN)
    await setTargets(db, second.issue, targets('topic', 'third'))
    t.match(await findPull(db, second.issue.id), { baseBranch: 'third' })
    await setTargets(db, first.issue, targets('topic'))
    t.match(await findIssue(db, repositoryId, first.issue.number), { state: 'closed' })
  },
)

await forEachMigrated(t, 'a pull request is merged once and closed by that', async (t, db) => {
  const { ada, repositoryId, open } = await openFixture(db)
  const { issue, pull } = await open('topic')
  const other = await open('topic', 'other')
  t.equal(await isHeadInUse(db, pull), true, 'by the other pull request')
  await updateIssue(db, other.issue.id, { state: 'closed' })
  t.equal(await isHeadInUse(db, pull), false)
  const next = await open('next', 'topic')
  t.equal(await isHeadInUse(db, pull), true, 'as the base of a third one')
  await updateIssue(db, next.issue.id, { state: 'closed' })
  await markMerged(db, pull, { mergeCommit: ID, mergedById: ada.id })
  const merged = await findPull(db, issue.id)
  t.match(merged, { mergeCommit: ID, mergedById: ada.id, mergedAtMs: Number })
  t.match(await findIssue(db, repositoryId, 1), { state: 'closed', closedAtMs: Number })
  await markMerged(db, pull, { mergeCommit: 'c'.repeat(40), mergedById: undefined })
  t.strictSame(await findPull(db, issue.id), merged)
  t.match(await open('topic'), { issue: { state: 'open' } }, 'its branches can be used again')
})
