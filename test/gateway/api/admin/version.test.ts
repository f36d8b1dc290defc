/** The version over the API is public and can be parsed by clients. */

import t from 'tap'
import { newToken } from '../../../../gateway/auth/token.js'
import { startGateway } from '../../../helpers/gateway.js'
import { withToken } from '../../../helpers/requests.js'

t.test('the version is a plain semantic version of at least 1.24', async (t) => {
  const { ask } = await startGateway(t)
  const { status, json, headers } = await ask({ path: '/api/v1/version' })
  t.equal(status, 200)
  t.match(json, { version: /^\d+\.\d+\.\d+$/ })
  const [major = 0, minor = 0] = (json as { version: string }).version.split('.').map(Number)
  t.ok(major > 1 || (major === 1 && minor >= 24))
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(headers['cache-control'], 'max-age=0, private, must-revalidate, no-transform')
})

t.test('an invalid token is refused on the version too', async (t) => {
  const { ask } = await startGateway(t)
  const answer = await ask({ path: '/api/v1/version', authorization: withToken(newToken()) })
  t.equal(answer.status, 401)
})
