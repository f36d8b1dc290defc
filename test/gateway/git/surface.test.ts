/**
 * Errors of Git over HTTP: one line that git prints, and a challenge if credentials are missing.
 */

import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { GIT_SURFACE } from '../../../gateway/git/surface.js'
import { aRequest } from '../../helpers/a-request.js'
import { openContext } from '../../helpers/gateway.js'

t.test('a refusal is plain text, and only a 401 asks for credentials', async (t) => {
  const { context } = await openContext(t)
  const headersOf = (failure: Failure) =>
    new Map(GIT_SURFACE.refuse(context, failure, aRequest()).headers).get('WWW-Authenticate')
  const refused = GIT_SURFACE.refuse(
    context,
    new Failure('sign_in_required', 'Who are you?'),
    aRequest(),
  )
  t.match(refused, { status: 401, body: 'Who are you?\n' })
  t.equal(new Map(refused.headers).get('Content-Type'), 'text/plain; charset=utf-8')
  t.equal(new Map(refused.headers).get('Cache-Control'), 'no-cache')
  t.equal(headersOf(new Failure('bad_credentials', 'x')), 'Basic realm="Gatehouse"')
  for (const name of ['forbidden', 'not_found', 'unavailable', 'internal'] as const) {
    t.equal(headersOf(new Failure(name, 'x')), undefined, name)
  }
})
