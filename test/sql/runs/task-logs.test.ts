/** Logs of tasks: what is stored and acknowledged, on both databases. */

import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { closeDatabase, openDatabase } from '../../../sql/database/database.js'
import { listJobs } from '../../../sql/runs/run-jobs.js'
import { appendLogs, type LogLimits, readLog } from '../../../sql/runs/task-logs.js'
import { createTask } from '../../../sql/runs/tasks.js'
import { forEachDatabase } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { appendLog, aRun, aTask, jobAt, logRows } from '../../helpers/run-rows.js'

const NO_LIMITS = { rowsMax: 1_000, bytesMax: 1_000_000 }

async function openTask(t: Test, location: DatabaseLocation) {
  const db = await openDatabase({ location, connectionsMax: 4 })
  t.teardown(() => closeDatabase(db))
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'engine')
  const run = await aRun(db, repositoryId)
  const [job] = await listJobs(db, run.id)
  const tokenHash = '0'.repeat(64)
  const task = { jobId: job?.id ?? 0, repositoryId, runnerId: undefined, tokenHash }
  const taskId = await createTask(db, task)
  const append = (
    firstRow: number,
    texts: readonly string[],
    limits: LogLimits = NO_LIMITS,
    isLast = false,
  ) => {
    const rows = texts.map((text) => ({ atMs: 1, text }))
    return appendLog(db, { taskId, firstRow, rows, isLast }, limits)
  }
  const read = async (firstRow = 0, rowsMax = 1_000) =>
    (await readLog(db, { taskId, firstRow, rowsMax })).map(({ text }) => text)
  return { db, taskId, append, read }
}

await forEachDatabase(t, 'rows are stored once and in order', async (t, location) => {
  const { append, read } = await openTask(t, location)
  t.match(await append(0, ['a', 'b']), { rows: 2 })
  t.match(await append(1, ['b', 'c', 'd']), { rows: 4 })
  t.match(await append(9, ['j']), { rows: 4 }, 'rows after a gap are ignored')
  t.match(await append(9, [], NO_LIMITS, true), { rows: 4 }, 'and do not close the log')
  t.match(await append(0, ['a', 'b']), { rows: 4 })
  t.strictSame(await read(), ['a', 'b', 'c', 'd'])
  t.strictSame(await read(1, 2), ['b', 'c'])
  t.strictSame(await read(3, 10), ['d'])
  t.match(await append(4, [], NO_LIMITS, true), { rows: 4, isRefused: false })
  t.match(await append(4, ['e']), { rows: 4, isRefused: true })
  t.match(await append(2, ['c', 'd'], NO_LIMITS, true), { rows: 4, isRefused: false })
})

await forEachDatabase(t, 'concurrent calls store each row once', async (t, location) => {
  const { append, read } = await openTask(t, location)
  const texts = Array.from({ length: 40 }, (_, at) => `line ${at}`)
  await Promise.all(texts.map((_, at) => append(0, texts.slice(0, at + 1))))
  t.strictSame(await read(), texts)
})

await forEachDatabase(
  t,
  'a log beyond a limit says so once, and is acknowledged',
  async (t, location) => {
    const { db, taskId, append, read } = await openTask(t, location)
    const limits = { rowsMax: 4, bytesMax: 1_000_000 }
    t.match(await append(0, ['a', 'b', 'c'], limits), { rows: 3 })
    t.match(await append(3, ['d', 'e', 'f'], limits), { rows: 6 })
    t.match(await append(6, ['g'], limits), { rows: 7 })
    const rows = await read()
    t.strictSame(rows.slice(0, 3), ['a', 'b', 'c'])
    t.match(rows.slice(3), [/^The log is cut here: it has more than 4 lines or 1000000 bytes\.$/])
    t.match(await db('workflow_logs').where({ task_id: taskId }).first(), { log_rows: 7 })
  },
)

await forEachDatabase(t, 'the number of bytes is limited too', async (t, location) => {
  const { append, read } = await openTask(t, location)
  const limits = { rowsMax: 100, bytesMax: 100 }
  await append(0, ['x'.repeat(60)], limits)
  await append(1, ['y'.repeat(60), 'z'], limits)
  await append(3, ['more'], limits)
  const rows = await read()
  t.equal(rows.length, 3)
  t.match(rows.at(-1), /^The log is cut here/)
})

await forEachDatabase(t, 'one call appends to the logs of several tasks', async (t, location) => {
  const { db, taskId, append, read } = await openTask(t, location)
  const { id: ownerId } = await aUser(db, 'bob')
  const { id: repositoryId } = await aRepository(db, ownerId, 'engine')
  const job = await jobAt(db, await aRun(db, repositoryId), 0)
  const other = await aTask(db, job, { repositoryId, status: 'running', rows: logRows('a') })
  await append(0, ['one'], NO_LIMITS, true)
  // More than one insert.
  const long = Array.from({ length: 200 }, () => randomBytes(32_000).toString('base64'))
  const states = await appendLogs(
    db,
    [
      { taskId, firstRow: 1, rows: logRows('two'), isLast: false },
      { taskId: other, firstRow: 1, rows: logRows(...long), isLast: true },
      { taskId: other + 1, firstRow: 0, rows: logRows('x'), isLast: false },
    ],
    { rowsMax: 1_000, bytesMax: 100_000_000 },
  )
  t.strictSame([...states].sort(), [
    [taskId, { rows: 1, isRefused: true }],
    [other, { rows: 201, isRefused: false }],
  ])
  t.strictSame(await read(), ['one'])
  const stored = await readLog(db, { taskId: other, firstRow: 0, rowsMax: 1_000 })
  t.strictSame(
    stored.map(({ text }) => text),
    ['a', ...long],
  )
})
