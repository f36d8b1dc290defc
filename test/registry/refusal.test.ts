/** A refusal as most clients read one: the sentence, as text and nothing else. */

import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { refuseInText } from '../../registry/refusal.js'

t.test('the message is all of the body, and never a page', async (t) => {
  t.strictSame(refuseInText(new Failure('bad_request', '<b>no</b> such name')), {
    headers: [['Content-Type', 'text/plain;charset=utf-8']],
    body: '<b>no</b> such name',
  })
})
