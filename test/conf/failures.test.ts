/** Failures carry the status and the headers of their answer. */

import t from 'tap'
import { Failure, isFailure } from '../../conf/failures.js'

t.test('a failure knows its status, its message and its cause', async (t) => {
  const cause = new Error('the disk is full')
  const failure = new Failure('unavailable', 'Try later.', { cause, retryAfterSeconds: 5 })
  t.match(failure, { status: 503, message: 'Try later.', cause, retryAfterSeconds: 5 })
  t.equal(failure.allow, undefined)
})

t.test('a failure of a method names the methods that do work', async (t) => {
  const failure = new Failure('method_not_allowed', 'Not here.', { allow: ['GET', 'HEAD'] })
  t.equal(failure.status, 405)
  t.strictSame(failure.allow, ['GET', 'HEAD'])
})

t.test('a thing that is private and a thing that is not there can share one name', async (t) => {
  const thrown: unknown = new Failure('not_found', 'Not found.')
  t.ok(isFailure(thrown, 'not_found'))
  t.notOk(isFailure(thrown, 'forbidden'))
  t.notOk(isFailure(new Error('Not found.'), 'not_found'), 'a bug is not an answer')
  t.notOk(isFailure(undefined, 'not_found'))
})
