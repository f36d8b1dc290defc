/** Messages between gateway and helper are encoded and decoded exactly. */

import fc from 'fast-check'
import t from 'tap'
import { fieldsOf, formatMessage, takeMessage } from '../../../gateway/ssh/message.js'

const anyField = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/\0/.test(text))

t.test('fields are decoded unchanged, and following bytes are left', async () => {
  fc.assert(
    fc.property(
      fc.array(anyField, { minLength: 1 }),
      fc.uint8Array({ maxLength: 9 }),
      (fields, more) => {
        const taken = takeMessage(Buffer.concat([formatMessage(fields), more]))
        t.same(taken && fieldsOf(taken.message), fields)
        t.same(taken?.rest, Buffer.from(more))
      },
    ),
  )
})

t.test('a part of a message is not decoded', async (t) => {
  const whole = formatMessage(['1', 'serve', ''])
  for (let length = 0; length < whole.length; length += 1) {
    t.equal(takeMessage(whole.subarray(0, length)), undefined)
  }
})

t.test('fields that are too long or contain NUL throw', async (t) => {
  t.throws(() => takeMessage(Buffer.from([0x7f, 0, 0, 0])), /too long/)
  t.throws(() => formatMessage(['x'.repeat(70_000)]), /too long/)
  t.throws(() => formatMessage(['a\0b']), /zero byte/)
})
