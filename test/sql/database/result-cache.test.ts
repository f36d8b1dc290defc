/** Results are returned for equal queries only, and for a limited time. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bindingsKey, ResultCache } from '../../../sql/database/result-cache.js'

t.test('bindings that differ have different keys', async (t) => {
  const lists = [[], [''], ['', ''], ['1'], [1], [1n], ['1', '2'], ['12'], [null], ['null'], [true]]
  const keys = lists.map(bindingsKey)
  t.equal(new Set(keys).size, lists.length, keys.join(' '))
  t.equal(bindingsKey(['a', 1, null]), bindingsKey(['a', 1, null]))
})

t.test('a result is returned until it expires or the cache is emptied', async (t) => {
  const cache = new ResultCache(500)
  t.equal(cache.get('select 1', ''), undefined)
  const rows = cache.add('select 1', '', [{ id: 1 }])
  t.strictSame(rows, [{ id: 1 }])
  t.ok(Object.isFrozen(rows) && Object.isFrozen(rows[0]))
  t.equal(cache.get('select 1', ''), rows)
  t.equal(cache.get('select 1', 'x'), undefined)
  t.equal(cache.get('select 2', ''), undefined)
  t.ok(cache.hasResultOf('select 1') && !cache.hasResultOf('select 2'))
  await sleep(510)
  t.equal(cache.get('select 1', ''), undefined, 'expired')
  const lasting = new ResultCache()
  lasting.add('select 1', '', [])
  lasting.clear()
  t.equal(lasting.get('select 1', ''), undefined, 'emptied')
  t.notOk(lasting.hasResultOf('select 1'))
})

t.test('long results are not kept, and not more than a thousand', async (t) => {
  const cache = new ResultCache()
  cache.add(
    'long',
    '',
    Array.from({ length: 11 }, () => ({})),
  )
  t.equal(cache.get('long', ''), undefined)
  for (let at = 0; at <= 1_000; at += 1) cache.add('short', String(at), [])
  t.equal(cache.get('short', '0'), undefined)
  t.strictSame(cache.get('short', '1000'), [])
})
