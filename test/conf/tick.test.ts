/** Looks are shared within a turn of the event loop, and never beyond it. */

import t from 'tap'
import { endTurn, inTurn, presentTurn } from '../../conf/tick.js'

/** The next turn of the event loop. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const turnNow = () => inTurn(presentTurn)

t.test('answers of one turn share their looks', (t) => {
  // A machine that stops between the two ends the turn early.
  const tries = Array.from({ length: 100 }, () => {
    const first = turnNow()
    return turnNow() === first
  })
  t.ok(tries.includes(true))
  t.end()
})

t.test('what runs outside of an answer looks for itself', async (t) => {
  t.equal(presentTurn(), undefined)
  const afterwards = inTurn(async () => {
    t.type(presentTurn(), 'number')
    await undefined
    return presentTurn()
  })
  t.equal(await afterwards, undefined, 'after a wait as well')
  t.throws(() =>
    inTurn(() => {
      throw new Error('an answer that failed')
    }),
  )
  t.equal(presentTurn(), undefined)
})

t.test('nothing is shared with the next turn, nor after a change or a while', async (t) => {
  const first = turnNow()
  endTurn()
  const second = turnNow()
  t.not(second, first, 'a change')
  for (let count = 0; count < 100; count += 1) {
    const before = turnNow()
    await nextTurn()
    t.not(turnNow(), before, 'the next turn')
  }
  const third = turnNow()
  const endMs = performance.now() + 0.3
  while (performance.now() < endMs);
  t.not(turnNow(), third, 'a while')
})
