/** Messages between gateway and helper: all fields go there and back, and no byte is guessed. */

import fc from 'fast-check'
import t from 'tap'
import { fieldsOf, formatMessage, takeMessage } from '../../../gateway/ssh/message.js'

const anyField = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/\0/.test(text))

t.test('fields come back as they went, and what follows them is left', async () => {
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

t.test('a part of a message is no message', async (t) => {
  const whole = formatMessage(['1', 'serve', ''])
  for (let length = 0; length < whole.length; length += 1) {
    t.equal(takeMessage(whole.subarray(0, length)), undefined)
  }
})

t.test('what is too long, or cannot be said, throws', async (t) => {
  t.throws(() => takeMessage(Buffer.from([0x7f, 0, 0, 0])), /too long/)
  t.throws(() => formatMessage(['x'.repeat(70_000)]), /too long/)
  t.throws(() => formatMessage(['a\0b']), /zero byte/)
})
