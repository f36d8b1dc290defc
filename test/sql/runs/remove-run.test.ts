/** Deletion of runs, on both databases. */

import t from 'tap'
import { removeRun } from '../../../sql/runs/remove-run.js'
import { findRun } from '../../../sql/runs/runs.js'
import { countLogRows } from '../../../sql/runs/task-logs.js'
import { findTask } from '../../../sql/runs/tasks.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aRun, aTask, jobAt, logRows } from '../../helpers/run-rows.js'

await forEachMigrated(t, 'a deleted run takes its tasks and logs with it', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'engine')
  const runs = [await aRun(db, repositoryId), await aRun(db, repositoryId)]
  const taskIds: number[] = []
  for (const run of runs) {
    const rows = logRows(...Array.from({ length: 60_000 }, () => 'x'))
    taskIds.push(
      await aTask(db, await jobAt(db, run, 0), { repositoryId, status: 'failure', rows }),
    )
  }
  const [run] = runs
  if (run === undefined) throw new Error('There is no run.')
  await removeRun(db, run)
  t.equal(await findRun(db, repositoryId, 1), undefined)
  const [gone = 0, kept = 0] = taskIds
  t.equal(await findTask(db, gone), undefined)
  t.equal(await countLogRows(db, gone), 0)
  t.match(await findTask(db, kept), { id: kept })
  t.equal(await countLogRows(db, kept), 60_000)
})

await forEachMigrated(t, 'the number of a deleted run is not given again', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'engine')
  const { id: otherId } = await aRepository(db, ownerId, 'other')
  const [first, second] = [await aRun(db, repositoryId), await aRun(db, repositoryId)]
  await removeRun(db, second)
  await removeRun(db, first)
  t.equal((await aRun(db, repositoryId)).number, 3)
  t.equal((await aRun(db, otherId)).number, 1)
})
