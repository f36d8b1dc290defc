/** Values are used synchronously, and promises are awaited. */

import t from 'tap'
import { after } from '../../../conf/lib/awaitable.js'

t.test('a plain value is used synchronously', async (t) => {
  t.equal(
    after(1, (value) => value + 1),
    2,
  )
  t.throws(() =>
    after(1, () => {
      throw new Error('thrown synchronously')
    }),
  )
})

t.test('a promise is awaited', async (t) => {
  const later = after(Promise.resolve(1), (value) => value + 1)
  t.ok(later instanceof Promise)
  t.equal(await later, 2)
  await t.rejects(async () => after(Promise.reject(new Error('lost')), () => 1), {
    message: 'lost',
  })
})
