/** Tasks of a pool end at their limits, and later tasks get a new thread. */

import { existsSync, readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import t, { type Test } from 'tap'
import { createPool, type PoolOptions, type TaskOutcome } from '../../../gateway/pool/pool.js'
import type { TestTasks } from '../../helpers/pool-tasks.js'
import { until } from '../../helpers/server-processes.js'

const FILE = new URL('../../helpers/pool-tasks.js', import.meta.url)
const LIMITS = { deadlineMs: 20_000, ownerId: 1 }
const SHORT = { ...LIMITS, deadlineMs: 300 }

function startPool(t: Test, options: Partial<PoolOptions> = {}) {
  const outcomes: TaskOutcome[] = []
  const pool = createPool<TestTasks>({
    file: FILE,
    heapMib: 32,
    waitingMax: 8,
    waitMs: 60_000,
    idleMs: 60_000,
    count: (outcome) => outcomes.push(outcome),
    ...options,
  })
  t.teardown(() => pool.stop())
  return { pool, outcomes }
}

const refusedAs = (reason: string) => ({ name: 'Error', reason })

t.test('a task runs in a thread of low priority without environment and preloads', async (t) => {
  const { pool, outcomes } = startPool(t)
  // The process of this test has both, from the test runner.
  const thread = await pool.run('thread', undefined as never, LIMITS)
  const nice = Math.max(10, getPriority())
  t.strictSame({ ...thread, folder: '' }, { folder: '', nice, environment: [], options: [] })
  const input = { text: 'ä\u{1f600}', list: [1, { two: null }], bytes: new Uint8Array([1, 2]) }
  t.strictSame(await pool.run('echo', input, LIMITS), input)
  t.strictSame(outcomes, ['ok', 'ok'])
})

t.test('a pool starts its thread with the first task and ends it when idle', async (t) => {
  const before = readdirSync('/proc/self/task')
  const { pool } = startPool(t, { idleMs: 100 })
  t.strictSame(
    readdirSync('/proc/self/task').filter((id) => !before.includes(id)),
    [],
    'no thread without a task',
  )
  const { folder } = await pool.run('thread', undefined as never, LIMITS)
  t.ok(existsSync(folder), 'the thread waits for the next task')
  const exists = async () => existsSync(folder)
  t.notOk(await until(exists, (present) => !present, 10_000), 'the thread has ended')
  t.equal(await pool.run('echo', 2, LIMITS), 2, 'the next task starts another thread')
})

t.test('a task that exceeds its deadline is ended, whatever it does', async (t) => {
  const { pool, outcomes } = startPool(t)
  await t.rejects(pool.run('spin', true, SHORT), refusedAs('deadline'))
  await t.rejects(
    pool.run('backtrack', 60, SHORT),
    refusedAs('deadline'),
    'in a regular expression',
  )
  t.equal(await pool.run('echo', 1, LIMITS), 1)
  t.strictSame(outcomes, ['deadline', 'deadline', 'ok'])
})

t.test('the deadline is one of CPU time, and five times as long in real time', async (t) => {
  const { pool } = startPool(t)
  await pool.run('sleep', SHORT.deadlineMs * 2, SHORT)
  const startedMs = performance.now()
  await t.rejects(pool.run('sleep', 100_000, SHORT), refusedAs('deadline'))
  t.ok(performance.now() - startedMs >= SHORT.deadlineMs * 5)
})

t.test('tasks queued behind one that is ended run in another thread', async (t) => {
  const { pool } = startPool(t)
  const ended = t.rejects(pool.run('spin', true, SHORT), refusedAs('deadline'))
  const others = [1, 2, 3].map((input) => pool.run('echo', input, LIMITS))
  t.strictSame(await Promise.all(others), [1, 2, 3])
  await ended
})

t.test('a task that fills its heap is ended, and the process continues', async (t) => {
  const { pool, outcomes } = startPool(t)
  await t.rejects(pool.run('fillHeap', true, LIMITS), refusedAs('memory'))
  t.equal(await pool.run('echo', 1, LIMITS), 1)
  t.strictSame(outcomes, ['memory', 'ok'])
})

t.test('errors of a task are passed on unchanged', async (t) => {
  const { pool, outcomes } = startPool(t)
  const refusal = { failure: 'bad_request', status: 400, message: 'no package' }
  await t.rejects(pool.run('refuse', 'no package', LIMITS), refusal)
  await t.rejects(pool.run('break', 'a defect', LIMITS), { name: 'TypeError', message: 'a defect' })
  await t.rejects(pool.run('exit', 1, LIMITS), { message: 'a worker thread exited' })
  t.equal(await pool.run('echo', 1, LIMITS), 1)
  t.strictSame(outcomes, ['failed', 'failed', 'failed', 'ok'])
})

t.test('a task is refused if too many wait or if it waited too long', async (t) => {
  const { pool, outcomes } = startPool(t, { waitingMax: 2, waitMs: 200 })
  const running = t.rejects(
    pool.run('spin', true, { ...LIMITS, deadlineMs: 2_000 }),
    refusedAs('deadline'),
  )
  const waiting = [1, 2].map((input) =>
    t.rejects(pool.run('echo', input, LIMITS), refusedAs('busy')),
  )
  await t.rejects(pool.run('echo', 3, LIMITS), refusedAs('busy'), 'the queue is full')
  t.strictSame(outcomes, ['busy'], 'immediately')
  await Promise.all(waiting)
  t.strictSame(outcomes, ['busy', 'busy', 'busy'], 'before the thread is free')
  await running
})

t.test('tasks of several owners take turns', async (t) => {
  const { pool } = startPool(t)
  const order: number[] = []
  const run = async (ownerId: number) => {
    await pool.run('echo', 0, { ...LIMITS, ownerId })
    order.push(ownerId)
  }
  await Promise.all([1, 1, 1, 1, 2, 3].map(run))
  t.strictSame(order, [1, 2, 1, 3, 1, 1])
})

t.test('a pool that is stopped refuses running, waiting and new tasks', async (t) => {
  const { pool } = startPool(t)
  const tasks = [pool.run('spin', true, LIMITS), pool.run('echo', 1, LIMITS)]
  const refused = tasks.map((task) => t.rejects(task, refusedAs('busy')))
  await pool.stop()
  await Promise.all(refused)
  await t.rejects(pool.run('echo', 1, LIMITS), refusedAs('busy'))
})
