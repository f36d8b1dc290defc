/** Failures have the status and the headers of their response. */

import t from 'tap'
import { Failure, isFailure } from '../../conf/failures.js'

t.test('a failure has a status, a message, a cause and a retry time', async (t) => {
  const cause = new Error('the disk is full')
  const failure = new Failure('unavailable', 'Try later.', { cause, retryAfterSeconds: 5 })
  t.match(failure, { status: 503, message: 'Try later.', cause, retryAfterSeconds: 5 })
  t.equal(failure.allow, undefined)
})

t.test('a method_not_allowed failure names the allowed methods', async (t) => {
  const failure = new Failure('method_not_allowed', 'Not here.', { allow: ['GET', 'HEAD'] })
  t.equal(failure.status, 405)
  t.strictSame(failure.allow, ['GET', 'HEAD'])
})

t.test('a failure is recognized by its name', async (t) => {
  const thrown: unknown = new Failure('not_found', 'Not found.')
  t.ok(isFailure(thrown, 'not_found'))
  t.notOk(isFailure(thrown, 'forbidden'))
  t.notOk(isFailure(new Error('Not found.'), 'not_found'), 'other errors are not failures')
  t.notOk(isFailure(undefined, 'not_found'))
})
