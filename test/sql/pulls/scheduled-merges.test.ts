/** Scheduled merges: one per pull request while it is open and its user exists. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { updateIssue } from '../../../sql/issues/issues.js'
import { createPull } from '../../../sql/pulls/pulls.js'
import {
  cancelScheduledMerge,
  findScheduledMerge,
  listMergesOf,
  scheduleMerge,
} from '../../../sql/pulls/scheduled-merges.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const COMMIT = 'a'.repeat(40)

async function openFixture(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'r')
  const { issue, pull } = await createPull(db, {
    issue: { title: 'x', content: '', authorId: ada.id },
    targets: {
      repositoryId,
      headRepositoryId: repositoryId,
      headBranch: 'topic',
      baseBranch: 'main',
    },
    headCommit: COMMIT,
    mergeBase: COMMIT,
    allowsMaintainerEdit: false,
  })
  const input = {
    pullId: pull.id,
    doerId: bob.id,
    style: 'squash',
    title: 'Title',
    message: 'é',
    deletesBranch: true,
    headCommit: COMMIT,
  }
  return { bob, repositoryId, issue, pull, input }
}

await forEachMigrated(
  t,
  'a scheduled merge is stored once, found by its commit, and cancelled',
  async (t, db) => {
    const { repositoryId, pull, input } = await openFixture(db)
    t.equal(await findScheduledMerge(db, pull.id), undefined)
    await scheduleMerge(db, input)
    const taken = { failure: 'conflict', message: /already scheduled .*\[pull_id: 1\]$/ }
    await t.rejects(scheduleMerge(db, input), taken)
    t.strictSame(await findScheduledMerge(db, pull.id), input)
    t.strictSame(await listMergesOf(db, { repositoryId, commitId: COMMIT }), [pull.id])
    t.strictSame(await listMergesOf(db, { repositoryId, commitId: 'b'.repeat(40) }), [])
    t.strictSame(await listMergesOf(db, { repositoryId: 99, commitId: COMMIT }), [])
    t.equal(await cancelScheduledMerge(db, pull.id), true)
    t.equal(await cancelScheduledMerge(db, pull.id), false)
  },
)

await forEachMigrated(
  t,
  'a scheduled merge is deleted with its pull request and with its user',
  async (t, db) => {
    const { bob, issue, pull, input } = await openFixture(db)
    await scheduleMerge(db, input)
    await updateIssue(db, issue.id, { title: 'y', state: 'open' })
    t.ok(await findScheduledMerge(db, pull.id))
    await updateIssue(db, issue.id, { state: 'closed' })
    await updateIssue(db, issue.id, { state: 'open' })
    t.equal(await findScheduledMerge(db, pull.id), undefined)
    await scheduleMerge(db, input)
    await db('owners').where({ id: bob.id }).delete()
    t.equal(await findScheduledMerge(db, pull.id), undefined)
  },
)
