/** Commit statuses are never changed; the latest of each context counts. */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import {
  addCommitStatus,
  addMissingStatuses,
  type CommitState,
  combineCommitStatuses,
  listCommitStatuses,
} from '../../../sql/code/commit-statuses.js'
import type { Database } from '../../../sql/database/database.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const [COMMIT, OTHER] = ['1'.repeat(40), '2'.repeat(64)]
const PAGE = { page: 1, limit: 10 }

async function aSpeaker(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const say = (state: CommitState, context: string, commitId = COMMIT) =>
    addCommitStatus(db, {
      repositoryId,
      commitId,
      state,
      context,
      creatorId: bob.id,
      description: `${state} of ${context}`,
      targetUrl: 'https://ci.example.com/1',
    })
  return { ada, bob, repositoryId, say }
}

await forEachMigrated(
  t,
  'every status is kept, and they are listed in either order',
  async (t, db) => {
    const { ada, bob, repositoryId, say } = await aSpeaker(db)
    const first = await say('pending', 'build')
    t.match(first, {
      commitId: COMMIT,
      state: 'pending',
      context: 'build',
      creator: { name: 'bob' },
    })
    t.match(first, { description: 'pending of build', targetUrl: 'https://ci.example.com/1' })
    await say('success', 'build')
    await say('failure', 'lint')
    await say('error', 'build', OTHER)
    const question = { repositoryId, commitId: COMMIT, state: undefined, page: PAGE }
    const said = async (changes: object) => {
      const order = 'newest' as const
      const { entries, total } = await listCommitStatuses(db, { ...question, order, ...changes })
      return [total, ...entries.map(({ state, context }) => `${state} ${context}`)]
    }
    t.strictSame(await said({}), [3, 'failure lint', 'success build', 'pending build'])
    t.strictSame(await said({ order: 'oldest', page: { page: 1, limit: 1 } }), [3, 'pending build'])
    t.strictSame(await said({ page: { page: 2, limit: 2 } }), [3, 'pending build'])
    t.strictSame(await said({ state: 'success' }), [1, 'success build'])
    t.strictSame(await said({ commitId: OTHER }), [1, 'error build'])
    const { id } = await aRepository(db, ada.id, 'other')
    t.strictSame(await said({ repositoryId: id }), [0])
    await deleteUser(db, bob.id)
    const { entries } = await listCommitStatuses(db, { ...question, order: 'oldest' })
    t.strictSame(
      entries[0],
      { ...first, creator: undefined },
      'a status is kept without its creator',
    )
  },
)

await forEachMigrated(t, 'the latest status of each context counts', async (t, db) => {
  const { repositoryId, say } = await aSpeaker(db)
  const place = { repositoryId, commitId: COMMIT }
  t.strictSame(await combineCommitStatuses(db, place, PAGE), { entries: [], total: 0, states: [] })
  await say('failure', 'build')
  await say('pending', 'Build')
  await say('success', 'lint')
  await say('success', 'build')
  await say('error', 'build', OTHER)
  const { entries, total, states } = await combineCommitStatuses(db, place, PAGE)
  t.strictSame(
    entries.map(({ state, context }) => `${state} ${context}`),
    ['success build', 'success lint', 'pending Build'],
  )
  t.equal(total, 3)
  t.strictSame([...states].sort(), ['pending', 'success'])
  const page = await combineCommitStatuses(db, place, { page: 3, limit: 1 })
  t.match(page, { total: 3, entries: [{ context: 'Build' }] })
  t.strictSame([...page.states].sort(), ['pending', 'success'], 'the states of all pages')
})

await forEachMigrated(
  t,
  'statuses are deleted with their repository and need one',
  async (t, db) => {
    const { repositoryId, say } = await aSpeaker(db)
    await say('success', 'build')
    await deleteRepository(db, repositoryId)
    t.strictSame(await db('commit_statuses'), [])
    await t.rejects(say('success', 'build'), {
      failure: 'not_found',
      message: /repository does not exist/,
    })
  },
)

await forEachMigrated(t, 'a missing status is added once and replaces none', async (t, db) => {
  const { repositoryId, say } = await aSpeaker(db)
  await say('failure', 'build')
  await say('failure', 'lint', OTHER)
  const skipped = ['build', 'lint', 'lint'].map((context) => ({
    context,
    state: 'skipped' as const,
    description: '',
    targetUrl: '',
    creatorId: undefined,
  }))
  const place = { repositoryId, commitId: COMMIT }
  t.match(await addMissingStatuses(db, place, skipped), [{ context: 'lint', state: 'skipped' }])
  t.strictSame(await addMissingStatuses(db, place, skipped), [])
  const { entries } = await combineCommitStatuses(db, place, PAGE)
  t.match(entries, [
    { context: 'lint', state: 'skipped' },
    { context: 'build', state: 'failure' },
  ])
})
