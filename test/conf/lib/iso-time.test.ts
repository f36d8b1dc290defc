/** Times in ISO 8601. */

import t from 'tap'
import { isoOf } from '../../../conf/lib/iso-time.js'

t.test('a time has milliseconds and is in UTC; one out of range is empty', async (t) => {
  t.equal(isoOf(0), '1970-01-01T00:00:00.000Z')
  t.equal(isoOf(1e20), '')
})
