/** Times are written as this API writes them: whole seconds, UTC. */

import t from 'tap'
import { apiTime, NEVER, ZERO_TIME } from '../../../../gateway/api/v1/times.js'

t.test('a time is written in whole seconds', async (t) => {
  t.equal(apiTime(Date.UTC(2025, 0, 2, 3, 4, 5, 999)), '2025-01-02T03:04:05Z')
  t.equal(apiTime(0), NEVER)
})

t.test('what was never set can be read as a time by strict clients', async (t) => {
  t.equal(Date.parse(NEVER), 0)
  t.equal(ZERO_TIME, '0001-01-01T00:00:00Z')
  t.notOk(Number.isNaN(Date.parse(ZERO_TIME)))
})
