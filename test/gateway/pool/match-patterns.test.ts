/** Matching of users' patterns in the pool, within a limit of time. */

import t from 'tap'
import { matchPatternsIn } from '../../../gateway/pool/match-patterns.js'
import { createPools } from '../../../gateway/pool/pools.js'

t.test('patterns that take too long are refused while the event loop runs', async (t) => {
  const pools = createPools(() => {})
  t.teardown(() => pools.stop())
  const match = matchPatternsIn(pools.uploads)
  t.strictSame(await match({ patterns: [], texts: ['a', 'b'] }, 1), [-1, -1])
  t.strictSame(await match({ patterns: ['b'], texts: ['a', 'b'] }, 1), [-1, 0])
  const malformed = { failure: 'invalid', message: /"\(" is not a regular expression/ }
  await t.rejects(match({ patterns: ['('], texts: [] }, 1), malformed)

  const patterns = Array.from({ length: 500 }, (_, n) => `\\pL{0,1000}\\pN{0,900}${n}`)
  let ticks = 0
  const clock = setInterval(() => {
    ticks += 1
  }, 20)
  t.teardown(() => clearInterval(clock))
  const slow = { failure: 'invalid', message: /^Matching ".*" and 499 others takes too much time/ }
  await t.rejects(match({ patterns, texts: ['a'] }, 1), slow)
  t.ok(ticks > 20, `${ticks} ticks of the event loop`)
  t.strictSame(await match({ patterns: ['b'], texts: ['b'] }, 1), [0])
})
