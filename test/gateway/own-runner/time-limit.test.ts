/** Time limits of jobs and steps. */

import t from 'tap'
import { minutesAsMs, parseMinutes, startLimit } from '../../../gateway/own-runner/time-limit.js'

t.test('timeouts are positive numbers of minutes, by default 360', async (t) => {
  t.equal(parseMinutes(), 360)
  t.equal(minutesAsMs(parseMinutes('1.5')), 90_000)
  for (const text of ['0', '-1', '1e3', 'soon', '', '1234567']) {
    t.throws(() => parseMinutes(text), { message: /is not a positive number/ }, text)
  }
})

t.test('a step of an action has no later limit than the step that uses the action', async (t) => {
  const outer = startLimit('2', undefined)
  t.equal(startLimit('3', outer), outer)
  t.equal(startLimit('1', outer).minutes, 1)
  const over = { minutes: 2, endsAtMs: Date.now() }
  t.throws(() => startLimit('1', over), { message: 'the action ran longer than 2 minutes' })
})
