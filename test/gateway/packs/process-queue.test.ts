/** The queue of git processes: limited, ordered, and left by disconnected clients. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createProcessQueue } from '../../../gateway/packs/process-queue.js'

const present = () => new AbortController().signal
const bounds = { runningMax: 2, waitingMax: 2, waitMs: 10_000, clientMax: 20 }
const AT_R = { repository: 'r', client: 'ada' }

t.test('up to the limit run, up to the limit wait in order, and the next is refused', async (t) => {
  const queue = createProcessQueue(() => bounds)
  const [first, second] = [await queue.enter(present(), AT_R), await queue.enter(present(), AT_R)]
  const order: string[] = []
  const enter = async (name: string) => {
    const leave = await queue.enter(present(), AT_R)
    order.push(name)
    return leave
  }
  const [third, fourth] = [enter('third'), enter('fourth')]
  await sleep(1)
  t.strictSame({ ...queue.load }, { running: 2, waiting: 2 })
  await t.rejects(queue.enter(present(), AT_R), { message: /busy with other Git requests/ })
  second()
  await third
  t.strictSame(order, ['third'])
  first()
  await fourth
  t.strictSame(order, ['third', 'fourth'])
  t.strictSame({ ...queue.load }, { running: 2, waiting: 0 })
  ;(await third)()
  ;(await fourth)()
  t.strictSame({ ...queue.load }, { running: 0, waiting: 0 })
})

t.test('a slot is released once, however often leave is called', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1 }))
  const leave = await queue.enter(present(), AT_R)
  leave()
  leave()
  leave()
  t.equal(queue.load.running, 0)
  await queue.enter(present(), AT_R)
  const client = new AbortController()
  const waiting = queue.enter(client.signal, AT_R)
  leave()
  await sleep(5)
  t.strictSame(
    { ...queue.load },
    { running: 1, waiting: 1 },
    'a released slot starts no other request',
  )
  client.abort()
  await t.rejects(waiting)
})

t.test('a request that leaves the queue frees its position', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, waitingMax: 1 }))
  const leave = await queue.enter(present(), AT_R)
  const client = new AbortController()
  const waiting = queue.enter(client.signal, AT_R)
  client.abort()
  await t.rejects(waiting, { message: /busy/ })
  t.equal(queue.load.waiting, 0)
  const next = queue.enter(present(), AT_R)
  leave()
  await t.resolves(next)
  await t.rejects(
    queue.enter(client.signal, AT_R),
    { message: /busy/ },
    'a request that has already left',
  )
})

t.test('each granted slot reports how long it was waited for', async (t) => {
  const waits: number[] = []
  const report = (seconds: number) => waits.push(seconds)
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1 }), report)
  const leave = await queue.enter(present(), AT_R)
  const next = queue.enter(present(), AT_R)
  await sleep(20)
  leave()
  await next
  t.equal(waits.length, 2)
  t.equal(waits[0], 0)
  t.ok((waits[1] ?? 0) >= 0.015, `${waits[1]}`)
})

t.test('a wait has a limit, and the error has a retry time', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, waitMs: 20 }))
  await queue.enter(present(), AT_R)
  const refused = await queue.enter(present(), AT_R).catch((error: unknown) => error)
  t.match(refused, { failure: 'unavailable', retryAfterSeconds: 5 })
  t.equal(queue.load.waiting, 0)
})

t.test('changed limits apply to the next request', async (t) => {
  const limits = { ...bounds, runningMax: 1, waitingMax: 0 }
  const queue = createProcessQueue(() => limits)
  await queue.enter(present(), AT_R)
  await t.rejects(queue.enter(present(), AT_R))
  limits.runningMax = 2
  await t.resolves(queue.enter(present(), AT_R))
})

t.test('waiting repositories take turns, whatever the lengths of their queues', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, waitingMax: 20 }))
  const order: string[] = []
  const enter = async (repository: string) => {
    const leave = await queue.enter(present(), { ...AT_R, repository })
    order.push(repository)
    await sleep(1)
    leave()
  }
  const leaveFirst = await queue.enter(present(), { ...AT_R, repository: 'busy' })
  const waiting = ['busy', 'busy', 'busy', 'busy', 'calm', 'rare', 'calm'].map(enter)
  leaveFirst()
  await Promise.all(waiting)
  t.strictSame(order, ['busy', 'calm', 'rare', 'busy', 'calm', 'busy', 'busy'])
  t.strictSame({ ...queue.load }, { running: 0, waiting: 0 })
})

t.test('a repository whose last waiter left delays no other', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1 }))
  const leave = await queue.enter(present(), AT_R)
  const client = new AbortController()
  const gone = queue.enter(client.signal, { ...AT_R, repository: 'left' })
  const next = queue.enter(present(), { ...AT_R, repository: 'stays' })
  client.abort()
  await t.rejects(gone)
  leave()
  await t.resolves(next)
})

t.test('a client has a share of the slots, and other clients the rest', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, clientMax: 2 }))
  const enter = (client: string, signal = present()) => queue.enter(signal, { ...AT_R, client })
  const leave = await enter('ada')
  const ada = new AbortController()
  const waiting = enter('ada', ada.signal)
  const refused = { failure: 'throttled', message: /too many Git requests/, retryAfterSeconds: 5 }
  await t.rejects(enter('ada'), refused)
  const other = enter('bo')
  ada.abort()
  await t.rejects(waiting, { message: /busy/ })
  const next = enter('ada')
  await t.rejects(enter('ada'), refused, 'leaving the queue freed exactly one slot')
  leave()
  leave()
  const leaveOther = await other
  const last = enter('ada')
  await t.rejects(enter('ada'), refused, 'ending freed exactly one slot')
  leaveOther()
  ;(await next)()
  ;(await last)()
  t.strictSame({ ...queue.load }, { running: 0, waiting: 0 })
})

t.test('a request that would wait too long is refused immediately', async (t) => {
  const limits = { runningMax: 4, waitingMax: 100, waitMs: 600_000, clientMax: 200 }
  const queue = createProcessQueue(() => limits)
  const enter = (repository: string) => queue.enter(present(), { ...AT_R, repository })
  const startedAtMs = performance.now()
  const entering = Array.from({ length: 60 }, () => enter('busy'))
  for (const entered of entering.slice(0, 10)) {
    const leave = await entered
    await sleep(5)
    leave()
  }
  limits.waitMs = performance.now() - startedAtMs
  const { waiting } = queue.load
  const refused = enter('busy').catch((error: unknown) => error)
  t.equal(queue.load.waiting, waiting, 'it has no position in the queue')
  t.match(await refused, { failure: 'unavailable', retryAfterSeconds: 5 })
  const rare = enter('rare')
  for (const entered of entering.slice(10)) (await entered)()
  ;(await rare)()
  t.strictSame({ ...queue.load }, { running: 0, waiting: 0 }, 'the next in order is not refused')
  limits.waitMs = 0
  await t.resolves(Promise.all([1, 2, 3, 4].map(() => enter('busy'))), 'while slots are free')
})
