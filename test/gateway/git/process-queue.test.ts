/** The queue of git processes: bounded, in order, and let go of by those who leave. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createProcessQueue } from '../../../gateway/git/process-queue.js'

const present = () => new AbortController().signal
const bounds = { runningMax: 2, waitingMax: 2, waitMs: 10_000 }

t.test('so many run, so many wait in order, and the next is refused', async (t) => {
  const queue = createProcessQueue(() => bounds)
  const [first, second] = [await queue.enter(present(), 'r'), await queue.enter(present(), 'r')]
  const order: string[] = []
  const enter = async (name: string) => {
    const leave = await queue.enter(present(), 'r')
    order.push(name)
    return leave
  }
  const [third, fourth] = [enter('third'), enter('fourth')]
  await sleep(1)
  t.strictSame({ ...queue.load }, { running: 2, waiting: 2 })
  await t.rejects(queue.enter(present(), 'r'), { message: /busy with other Git requests/ })
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

t.test('a place is given back once, however often it is said', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1 }))
  const leave = await queue.enter(present(), 'r')
  leave()
  leave()
  leave()
  t.equal(queue.load.running, 0)
  await queue.enter(present(), 'r')
  const client = new AbortController()
  const waiting = queue.enter(client.signal, 'r')
  leave()
  await sleep(5)
  t.strictSame({ ...queue.load }, { running: 1, waiting: 1 }, 'an old place lets nobody in')
  client.abort()
  await t.rejects(waiting)
})

t.test('who leaves the line frees its place in it', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, waitingMax: 1 }))
  const leave = await queue.enter(present(), 'r')
  const client = new AbortController()
  const waiting = queue.enter(client.signal, 'r')
  client.abort()
  await t.rejects(waiting, { message: /busy/ })
  t.equal(queue.load.waiting, 0)
  const next = queue.enter(present(), 'r')
  leave()
  await t.resolves(next)
  await t.rejects(
    queue.enter(client.signal, 'r'),
    { message: /busy/ },
    'and one that has left already',
  )
})

t.test('a wait has an end, with a time to come back', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1, waitMs: 20 }))
  await queue.enter(present(), 'r')
  const refused = await queue.enter(present(), 'r').catch((error: unknown) => error)
  t.match(refused, { failure: 'unavailable', retryAfterSeconds: 5 })
  t.equal(queue.load.waiting, 0)
})

t.test('bounds that change hold for the next', async (t) => {
  const limits = { runningMax: 1, waitingMax: 0, waitMs: 1_000 }
  const queue = createProcessQueue(() => limits)
  await queue.enter(present(), 'r')
  await t.rejects(queue.enter(present(), 'r'))
  limits.runningMax = 2
  await t.resolves(queue.enter(present(), 'r'))
})

t.test('repositories that wait take turns, whoever has the longer line', async (t) => {
  const queue = createProcessQueue(() => ({ runningMax: 1, waitingMax: 20, waitMs: 10_000 }))
  const order: string[] = []
  const enter = async (repository: string) => {
    const leave = await queue.enter(present(), repository)
    order.push(repository)
    await sleep(1)
    leave()
  }
  const leaveFirst = await queue.enter(present(), 'busy')
  const waiting = ['busy', 'busy', 'busy', 'busy', 'calm', 'rare', 'calm'].map(enter)
  leaveFirst()
  await Promise.all(waiting)
  t.strictSame(order, ['busy', 'calm', 'rare', 'busy', 'calm', 'busy', 'busy'])
  t.strictSame({ ...queue.load }, { running: 0, waiting: 0 })
})

t.test('a repository whose last one left the line holds up nobody', async (t) => {
  const queue = createProcessQueue(() => ({ ...bounds, runningMax: 1 }))
  const leave = await queue.enter(present(), 'r')
  const client = new AbortController()
  const gone = queue.enter(client.signal, 'left')
  const next = queue.enter(present(), 'stays')
  client.abort()
  await t.rejects(gone)
  leave()
  await t.resolves(next)
})
