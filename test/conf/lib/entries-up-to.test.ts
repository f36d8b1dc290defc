/** Bound of caches: which entries remain. */

import { LRUCache } from 'lru-cache'
import t from 'tap'
import { entriesUpTo } from '../../../conf/lib/entries-up-to.js'

t.test('a cache keeps the last entries up to its bound', async (t) => {
  const cache = new LRUCache<string, number>(entriesUpTo(2))
  for (const [value, key] of ['a', 'b', 'c'].entries()) cache.set(key, value)
  t.strictSame([...cache.keys()].sort(), ['b', 'c'])
})
