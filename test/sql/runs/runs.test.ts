/** Lists of runs with filters, on both databases. */

import t from 'tap'
import { isMysql } from '../../../sql/database/dialect.js'
import { listJobsAt } from '../../../sql/runs/run-lists.js'
import { listRuns, type RunFilter, updateRunStatus } from '../../../sql/runs/runs.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { plansOf } from '../../helpers/query-plans.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aRun } from '../../helpers/run-rows.js'

const PAGE = { page: 1, limit: 10 }

await forEachMigrated(t, 'runs are listed by each condition and by several', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const { id: otherId } = await aRepository(db, ada.id, 'other')
  const commitId = 'b'.repeat(40)
  await aRun(db, repositoryId, { commitId })
  const second = await aRun(db, repositoryId, { event: 'schedule', actorId: ada.id })
  await updateRunStatus(db, second, 'success')
  await aRun(db, repositoryId, { reference: 'refs/tags/main', actorId: ada.id })
  await aRun(db, otherId, { commitId })
  const numbers = async (filter: RunFilter, page = PAGE) => {
    const { entries, total } = await listRuns(db, repositoryId, { ...page, filter })
    return [...entries.map(({ number }) => number), `of ${total}`]
  }
  t.strictSame(await numbers({}), [3, 2, 1, 'of 3'])
  t.strictSame(await numbers({}, { page: 2, limit: 2 }), [1, 'of 3'])
  t.strictSame(await numbers({ event: 'push' }), [3, 1, 'of 2'])
  t.strictSame(await numbers({ reference: 'refs/heads/main' }), [2, 1, 'of 2'])
  t.strictSame(await numbers({ statuses: ['success', 'failure'] }), [2, 'of 1'])
  t.strictSame(await numbers({ actorId: ada.id }), [3, 2, 'of 2'])
  t.strictSame(await numbers({ commitId }), [1, 'of 1'])
  t.strictSame(await numbers({ actorId: ada.id, event: 'push' }), [3, 'of 1'])
  t.strictSame(await numbers({ commitId, event: 'schedule' }), ['of 0'])
})

await forEachMigrated(t, 'a filter reads an index of the repository, not rows', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  for (let made = 0; made < 20; made += 1) await aRun(db, repositoryId)
  const filters: readonly RunFilter[] = [
    { event: 'push' },
    { statuses: ['success'] },
    { reference: 'refs/heads/main', actorId: ada.id },
  ]
  for (const filter of filters) {
    const plans = await plansOf(db, (trx) => listRuns(trx, repositoryId, { ...PAGE, filter }))
    const wanted = isMysql(db)
      ? /"key":"workflow_runs_by_(?:filter|status)"[^}]*Using index/
      : /SEARCH r USING COVERING INDEX workflow_runs_by_filter \(repository_id=\?\)/
    t.match(plans, wanted)
    t.notMatch(plans, /SCAN r\b|"table":"r","type":"ALL"/)
  }
  const place = { kind: 'owner', id: ada.id, viewer: { kind: 'user', id: ada.id } } as const
  const plans = await plansOf(db, (trx) => listJobsAt(trx, place, PAGE))
  const wanted = isMysql(db)
    ? /"key":"workflow_jobs_by_attempt"[^}]*Using index/
    : /SEARCH j USING COVERING INDEX workflow_jobs_by_attempt \(run_id=\? AND last_attempt=\?/
  t.match(plans, wanted)
})
