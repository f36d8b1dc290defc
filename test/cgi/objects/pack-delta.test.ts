/** Deltas of packs, as gitformat-pack(5) describes them. */

import t from 'tap'
import { applyDelta, resultSizeOf } from '../../../cgi/objects/pack-delta.js'

const BASE = Buffer.from('0123456789')

/** Returns a delta for a base and a result of these sizes. */
const deltaOf = (baseSize: number, size: number, ...commands: readonly number[]) =>
  Buffer.from([baseSize, size, ...commands])

t.test('a delta copies from its base and from itself', async (t) => {
  const insert = [3, ...Buffer.from('abc')]
  const copyFrom2 = [0x80 | 0x01 | 0x10, 2, 4]
  const delta = deltaOf(10, 7, ...copyFrom2, ...insert)
  t.equal(resultSizeOf(delta), 7)
  t.equal(applyDelta(BASE, delta).toString(), '2345abc')
})

t.test(
  'a copy without a length has 65,536 bytes, and one without an offset starts at 0',
  async (t) => {
    const base = Buffer.alloc(70_000, 'x')
    const sizes = [0xf0, 0xa2, 0x04, 0x80, 0x80, 0x04]
    const delta = Buffer.from([...sizes, 0x80])
    t.equal(resultSizeOf(delta), 65_536)
    t.ok(applyDelta(base, delta).equals(base.subarray(0, 65_536)))
  },
)

t.test('an offset and a length of several bytes have the lowest byte first', async (t) => {
  const base = Buffer.alloc(70_000)
  base.write('here', 0x1_0203)
  const delta = Buffer.from([0xf0, 0xa2, 0x04, 4, 0x80 | 0x07 | 0x30, 3, 2, 1, 4, 0])
  t.equal(applyDelta(base, delta).toString(), 'here')
})

const REFUSED = {
  'another size of the base': deltaOf(9, 1, 1, 0x61),
  'a copy behind the end of the base': deltaOf(10, 4, 0x80 | 0x01 | 0x10, 8, 4),
  'an insertion behind the end of the delta': deltaOf(10, 4, 4, 0x61),
  'more than the result': deltaOf(10, 1, 2, 0x61, 0x61),
  'less than the result': deltaOf(10, 2, 1, 0x61),
  'the reserved command': deltaOf(10, 1, 0),
  'a copy without its offset': deltaOf(10, 1, 0x80 | 0x01),
  'no sizes': Buffer.alloc(0),
  'an endless size': Buffer.alloc(20, 0xff),
}

for (const [what, delta] of Object.entries(REFUSED)) {
  t.test(`a delta with ${what} is refused`, async (t) => {
    t.throws(() => applyDelta(BASE, delta), /^a delta|a delta/)
  })
}
