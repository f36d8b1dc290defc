/** Reads are shared within a tick of the event loop, and never beyond it. */

import t from 'tap'
import { currentTick, endTick, inTick, shareUntilNextWait } from '../../../conf/lib/tick.js'

/** Waits for the next tick of the event loop. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const tickNow = () => inTick(currentTick)

t.test('callbacks of one tick share their reads', (t) => {
  // If the machine pauses between the two calls, the tick ends early.
  const tries = Array.from({ length: 100 }, () => {
    const first = tickNow()
    return tickNow() === first
  })
  t.ok(tries.includes(true))
  t.end()
})

t.test("code outside of a request's callback has no tick to share", async (t) => {
  t.equal(currentTick(), undefined)
  const afterwards = inTick(async () => {
    t.type(currentTick(), 'number')
    await undefined
    return currentTick()
  })
  t.equal(await afterwards, undefined, 'also after an await')
  t.throws(() =>
    inTick(() => {
      throw new Error('an answer that failed')
    }),
  )
  t.equal(currentTick(), undefined)
})

t.test('nothing is shared with the next tick, after a change, or after some time', async (t) => {
  const first = tickNow()
  endTick()
  const second = tickNow()
  t.not(second, first, 'after a change')
  for (let count = 0; count < 100; count += 1) {
    const before = tickNow()
    await nextTurn()
    t.not(tickNow(), before, 'the next tick')
  }
  const third = tickNow()
  const endMs = performance.now() + 0.3
  while (performance.now() < endMs);
  t.not(tickNow(), third, 'after some time')
})

t.test('code after a shared read has a tick until it waits for something else', async (t) => {
  const read = nextTurn().then(shareUntilNextWait)
  const waiting = [1, 2].map(async () => {
    await read
    await undefined
    const shared = currentTick()
    await nextTurn()
    return [typeof shared, currentTick()]
  })
  t.strictSame(await Promise.all(waiting), [
    ['number', undefined],
    ['number', undefined],
  ])
})
