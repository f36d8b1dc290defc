/** Parts in which logs are stored, on both databases. */

import t from 'tap'
import { countLogRows, readLog } from '../../../sql/runs/task-logs.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { appendLog, aRun, aTask, jobAt, logRows } from '../../helpers/run-rows.js'

const LIMITS = { rowsMax: 4_000, bytesMax: 10_000_000 }

await forEachMigrated(
  t,
  'a part has at most 1000 rows, and few if they are long',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const { id: repositoryId } = await aRepository(db, ownerId, 'r')
    const job = await jobAt(db, await aRun(db, repositoryId), 0)
    const taskId = await aTask(db, job, { repositoryId, status: 'running', rows: [] })
    t.equal(await countLogRows(db, taskId), 0)
    const texts = Array.from({ length: 2_600 }, (_, at) => `line ${at}`)
    const first = { taskId, firstRow: 0, rows: logRows(...texts.slice(0, 2_500)), isLast: false }
    await appendLog(db, first, LIMITS)
    const state = await appendLog(
      db,
      { taskId, firstRow: 2_400, rows: logRows(...texts.slice(2_400)), isLast: false },
      LIMITS,
    )
    t.match(state, { rows: 2_600 })
    const parts = await db('workflow_log_parts').where({ task_id: taskId }).orderBy('first_row')
    t.match(
      parts.map((part) => [part.first_row, part.row_count]),
      [
        [0, 1_000],
        [1_000, 1_000],
        [2_000, 500],
        [2_500, 100],
      ],
    )
    const rows = await readLog(db, { taskId, firstRow: 990, rowsMax: 1_600 })
    t.strictSame(
      rows.map(({ text }) => text),
      texts.slice(990, 2_590),
    )
    t.equal(await countLogRows(db, taskId), 2_600)
    const long = logRows(...Array.from({ length: 10 }, () => 'x'.repeat(65_536)))
    await appendLog(db, { taskId, firstRow: 2_600, rows: long, isLast: true }, LIMITS)
    const counts = await db('workflow_log_parts')
      .where('first_row', '>=', 2_600)
      .orderBy('first_row')
    t.strictSame(
      counts.map((part) => part.row_count),
      [4, 4, 2],
    )
    t.equal((await readLog(db, { taskId, firstRow: 2_599, rowsMax: 99 })).length, 11)
  },
)

await forEachMigrated(t, 'rows beyond the limits are not among the stored rows', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'r')
  const job = await jobAt(db, await aRun(db, repositoryId), 0)
  const taskId = await aTask(db, job, { repositoryId, status: 'running', rows: [] })
  const rows = logRows(...Array.from({ length: 5_000 }, () => 'x'))
  t.match(await appendLog(db, { taskId, firstRow: 0, rows, isLast: true }, LIMITS), { rows: 5_000 })
  t.equal(await countLogRows(db, taskId), 4_000)
})

await forEachMigrated(t, 'no row follows the one that says where the log is cut', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'r')
  const job = await jobAt(db, await aRun(db, repositoryId), 0)
  const taskId = await aTask(db, job, { repositoryId, status: 'running', rows: [] })
  const limits = { rowsMax: 100, bytesMax: 1_000 }
  for (const [firstRow, text] of ['short', 'x'.repeat(1_000), 'short', 'last'].entries()) {
    const rows = logRows(text)
    const state = await appendLog(db, { taskId, firstRow, rows, isLast: text === 'last' }, limits)
    t.match(state, { rows: firstRow + 1, isRefused: false }, 'all rows are acknowledged')
  }
  const stored = await readLog(db, { taskId, firstRow: 0, rowsMax: 10 })
  t.match(
    stored.map(({ text }) => text),
    ['short', /^The log is cut here: it has more than 100 lines or 1000 bytes\.$/],
  )
  t.equal(stored.length, 2)
})
