/** Refusals as plain text. */

import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { refuseInText } from '../../registry/refusal.js'

t.test('the body is only the message, with the type text/plain', async (t) => {
  t.strictSame(refuseInText(new Failure('bad_request', '<b>no</b> such name')), {
    headers: [['Content-Type', 'text/plain;charset=utf-8']],
    body: '<b>no</b> such name',
  })
})
