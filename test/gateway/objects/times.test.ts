/** Times in the format of the API: whole seconds in UTC. */

import t from 'tap'
import {
  apiTime,
  NEVER,
  readBounds,
  readDay,
  readTime,
  ZERO_TIME,
} from '../../../gateway/objects/times.js'

t.test('a time is written in whole seconds', async (t) => {
  t.equal(apiTime(Date.UTC(2025, 0, 2, 3, 4, 5, 999)), '2025-01-02T03:04:05Z')
  t.equal(apiTime(0), NEVER)
})

t.test('a time that was never set is parsed by strict clients', async (t) => {
  t.equal(Date.parse(NEVER), 0)
  t.equal(ZERO_TIME, '0001-01-01T00:00:00Z')
  t.notOk(Number.isNaN(Date.parse(ZERO_TIME)))
})

const WRONG = ['', 'now', '2025', '2025-01-01', '2025-01-01T00:00:00', '2025-13-01T00:00:00Z', '0']

t.test('a time is parsed with its offset and fraction, or refused', async (t) => {
  t.equal(readTime('2025-01-02T03:04:05Z'), Date.UTC(2025, 0, 2, 3, 4, 5))
  t.equal(readTime('2025-01-02T03:04:05.5+01:00'), Date.UTC(2025, 0, 2, 2, 4, 5, 500))
  t.equal(
    readTime('2025-01-02T03:04:05 01:00'),
    Date.UTC(2025, 0, 2, 2, 4, 5),
    'a plus sign decoded as a space',
  )
  for (const text of WRONG) t.throws(() => readTime(text), { message: /RFC 3339/ }, text)
})

t.test('a due date ends at the end of its day in its own offset', async (t) => {
  const end = Date.UTC(2025, 0, 2, 23, 59, 59)
  for (const text of ['2025-01-02T00:00:00Z', '2025-01-02T23:00:00-08:00']) {
    t.equal(readDay(text), end, text)
  }
  t.equal(readDay(ZERO_TIME), undefined, 'the zero time of Go means none')
  t.throws(() => readDay('2025-01-02'), { message: /RFC 3339/ })
})

t.test('the bounds of a time filter are at its named second', async (t) => {
  const time = '2025-01-02T03:04:05.250Z'
  t.strictSame(readBounds({ since: time, before: time }), {
    sinceMs: Date.UTC(2025, 0, 2, 3, 4, 5, 250),
    beforeMs: Date.UTC(2025, 0, 2, 3, 4, 6),
  })
  t.strictSame(readBounds({ since: '' }), { sinceMs: undefined, beforeMs: undefined })
})
