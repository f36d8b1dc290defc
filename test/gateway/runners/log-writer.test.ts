/** Writes of logs that arrive at the same time. */

import t from 'tap'
import { LogWriter } from '../../../gateway/runners/log-writer.js'
import type { LogAppend, LogState } from '../../../sql/runs/task-logs.js'

function anAppend(taskId: number, firstRow: number, text = 'x'): LogAppend {
  return { taskId, firstRow, rows: [{ atMs: 1, text }], isLast: false }
}

/** Returns a writer, and the tasks of each of its writes. */
function aWriter(write = (_appends: readonly LogAppend[]) => {}) {
  const writes: Array<readonly number[]> = []
  const writer = new LogWriter(async (appends) => {
    writes.push(appends.map(({ taskId }) => taskId))
    write(appends)
    const states = appends.map(({ taskId, firstRow }): [number, LogState] => [
      taskId,
      { rows: firstRow + 1, isRefused: false },
    ])
    return new Map(states)
  })
  return { writer, writes }
}

t.test('messages that arrive during a write are stored by the next one', async (t) => {
  const { writer, writes } = aWriter()
  const first = writer.append(anAppend(1, 0))
  const others = [2, 3, 4].map((taskId) => writer.append(anAppend(taskId, 10)))
  t.strictSame(await first, { rows: 1, isRefused: false })
  t.strictSame(await Promise.all(others), Array(3).fill({ rows: 11, isRefused: false }))
  t.strictSame(writes, [[1], [2, 3, 4]])
})

t.test('messages of one task are stored one after the other', async (t) => {
  const { writer, writes } = aWriter()
  const states = await Promise.all([0, 1, 2].map((row) => writer.append(anAppend(7, row))))
  t.strictSame(
    states.map((state) => state?.rows),
    [1, 2, 3],
  )
  t.strictSame(writes, [[7], [7], [7]])
})

t.test('a write has a limited size', async (t) => {
  const { writer, writes } = aWriter()
  const texts = ['x', 'y'.repeat(5_000_000), 'y'.repeat(5_000_000), 'y'.repeat(9_000_000), 'z']
  await Promise.all(texts.map((text, taskId) => writer.append(anAppend(taskId, 0, text))))
  t.strictSame(writes, [[0], [1], [2], [3], [4]])
})

t.test('a failed write rejects its messages only', async (t) => {
  const { writer } = aWriter((appends) => {
    if (appends.length === 2) throw new Error('the disk is full')
  })
  const first = writer.append(anAppend(1, 0))
  const failed = [2, 3].map((taskId) => writer.append(anAppend(taskId, 0)))
  const results = await Promise.allSettled([first, ...failed])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  )
  t.match(await writer.append(anAppend(2, 0)), { rows: 1 })
})
