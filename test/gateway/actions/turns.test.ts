/** Whoever works on one thing waits for those before, and nobody else does. */

import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createTurns } from '../../../gateway/actions/turns.js'

t.test('one after the other, whatever becomes of them', async (t) => {
  const inTurn = createTurns()
  const said: string[] = []
  const work = (name: string, ms: number) => async () => {
    said.push(`${name} begins`)
    await delay(ms)
    said.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
    return name
  }
  const both = [
    inTurn('x', work('a', 20)),
    inTurn('x', work('b', 5)),
    inTurn('x', work('c', 1)),
    inTurn('y', work('d', 1)),
  ]
  const ends = await Promise.allSettled(both)
  t.strictSame(
    ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason))),
    [...['a', 'Error: b fails', 'c', 'd']],
  )
  const ofX = said.filter((line) => !line.startsWith('d'))
  t.strictSame(
    ofX,
    ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  )
  t.ok(said.indexOf('d ends') < said.indexOf('a ends'), 'another thing is not waited for')
  t.equal(await inTurn('x', async () => 'again'), 'again')
})
