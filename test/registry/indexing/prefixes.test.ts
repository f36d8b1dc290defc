/** The longest known prefix is found, and old ones are evicted. */

import t from 'tap'
import { startDigests } from '../../../registry/digests.js'
import { createPrefixes, prefixesOf } from '../../../registry/indexing/prefixes.js'

const spanOf = (id: string) => ({ id, blobKey: undefined, start: 0, bytes: id.length })
const textOf = (...ids: readonly string[]) => ({
  name: 'list',
  form: 'plain' as const,
  spans: ids.map(spanOf),
})

t.test('prefixes are equal for equal pieces after equal bytes', async (t) => {
  const head = Buffer.from('head')
  const [one, two] = prefixesOf([head, textOf('a', 'bcd'), Buffer.from('tail')])
  t.strictSame([one?.bytes, two?.bytes], [5, 8])
  t.strictSame(prefixesOf([head, textOf('a', 'x')])[0], one)
  t.not(prefixesOf([head, textOf('x', 'bcd')])[1]?.id, two?.id)
  t.not(prefixesOf([textOf('a', 'bcd')])[1]?.id, two?.id)
  t.strictSame(prefixesOf([head]), [], 'without a text there is none')
})

t.test('the longest known prefix is found', async (t) => {
  const prefixes = createPrefixes()
  const all = prefixesOf([textOf('a', 'b', 'c', 'd')])
  t.equal(prefixes.find(all), undefined)
  for (const beginning of all.slice(0, 3)) {
    prefixes.keep({ ...beginning, digests: startDigests() })
  }
  t.equal(prefixes.find(all)?.bytes, 3)
  t.equal(prefixes.find(all.slice(0, 1))?.bytes, 1)
})

t.test('a prefix that was not used for long is evicted', async (t) => {
  const prefixes = createPrefixes()
  const at = (number: number) => prefixesOf([textOf(String(number))])
  for (let number = 0; number < 501; number += 1) {
    for (const beginning of at(number)) prefixes.keep({ ...beginning, digests: startDigests() })
    prefixes.find(at(0))
  }
  t.ok(prefixes.find(at(0)), 'it was used')
  t.equal(prefixes.find(at(1)), undefined)
  t.ok(prefixes.find(at(2)))
})
