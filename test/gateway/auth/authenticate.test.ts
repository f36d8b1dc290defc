/** Authentication of requests from their credentials, which are never logged. */

import t from 'tap'
import type { Request } from '../../../conf/http.js'
import { authenticate, SIGN_IN_MESSAGE } from '../../../gateway/auth/authenticate.js'
import { newToken } from '../../../gateway/auth/token.js'
import { NO_BODY } from '../../../gateway/http/incoming-body.js'
import { deleteToken } from '../../../sql/accounts/tokens.js'
import { openContext } from '../../helpers/gateway.js'
import { passwordOf } from '../../helpers/passwords.js'
import { withPassword, withToken } from '../../helpers/requests.js'

const aRequest = (authorization?: string, query = ''): Request => ({
  id: '1',
  method: 'GET',
  path: '/',
  query,
  body: NO_BODY,
  address: '192.0.2.1',
  headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
  scheme: 'http',
  signal: new AbortController().signal,
})

t.test('a request is anonymous, has a token with scopes, or has a password', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const { plain } = await fixture.addToken(ada, 'read:user')
  t.strictSame(await authenticate(context, aRequest()), { kind: 'anonymous' })
  const byToken = await authenticate(context, aRequest(withToken(plain)))
  t.match(byToken, { kind: 'user', user: { name: 'ada' }, scopes: ['read:user'] })
  const byPassword = await authenticate(context, aRequest(withPassword('ADA', passwordOf('ada'))))
  t.match(byPassword, { kind: 'user', user: { name: 'ada' }, scopes: undefined })
})

t.test('malformed, wrong and deactivated credentials have different errors', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const { plain, token } = await fixture.addToken(ada, 'all')
  const malformed = { message: SIGN_IN_MESSAGE }
  for (const text of ['token short', `token ${plain}x`, withPassword('ada', ''), 'Basic ?']) {
    await t.rejects(async () => authenticate(context, aRequest(text)), malformed, text)
  }
  for (const query of [`token=${plain}`, `a=b&access_token=${plain}`, 'token=']) {
    await t.rejects(async () => authenticate(context, aRequest(undefined, query)), malformed, query)
  }
  t.match(await authenticate(context, aRequest(undefined, 'mytoken=x&token')), {
    kind: 'anonymous',
  })
  const wrong = { message: 'invalid username, password or token' }
  const tries = [
    withToken(newToken()),
    withPassword('ada', newToken()),
    withPassword(newToken(), ''),
    withPassword('ada', 'wrong'),
    withPassword('absent', 'wrong'),
    withPassword('', 'x'),
  ]
  for (const text of tries)
    await t.rejects(async () => authenticate(context, aRequest(text)), wrong, text)
  await fixture.db('users').where({ owner_id: ada.id }).update({ is_active: false })
  const closed = { message: /prohibited from signing in/ }
  await t.rejects(async () => authenticate(context, aRequest(withToken(plain))), closed)
  await t.rejects(
    async () => authenticate(context, aRequest(withPassword('ada', passwordOf('ada')))),
    closed,
  )
  await deleteToken(fixture.db, ada.id, token.id)
  await t.rejects(
    async () => authenticate(context, aRequest(withToken(plain))),
    wrong,
    'a revoked token',
  )
})

t.test('revoked tokens are not counted as guesses, however many there are', async (t) => {
  const { context, fixture } = await openContext(t)
  await fixture.addUser('ada')
  const revoked = withPassword('ada', newToken())
  for (let n = 0; n < 50; n += 1) {
    await t.rejects(async () => authenticate(context, aRequest(revoked)), {
      message: /^invalid username/,
    })
  }
  const right = aRequest(withPassword('ada', passwordOf('ada')))
  t.match(await authenticate(context, right), { kind: 'user' })
})

t.test('a user without a password signs in with a token only', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  await fixture.db('users').where({ owner_id: ada.id }).update({ password_hash: null })
  await t.rejects(async () =>
    authenticate(context, aRequest(withPassword('ada', passwordOf('ada')))),
  )
})

t.test('a failed sign-in is logged with its account and without secrets', async (t) => {
  const { context, fixture } = await openContext(t)
  await fixture.addUser('ada')
  const { plain } = await fixture.addToken(await fixture.addUser('bob'), 'all')
  for (const [name, password] of [
    ['ada', 'my secret'] as const,
    ['my secret', 'x'] as const,
    [plain, 'x'] as const,
  ]) {
    await t.rejects(async () => authenticate(context, aRequest(withPassword(name, password))))
  }
  const failed = fixture.lines.filter(({ event }) => event === 'sign-in-failed')
  t.strictSame(
    failed.map(({ name, address }) => [name, address]),
    [['ada', '192.0.2.1'], ...[1, 2].map(() => [undefined, '192.0.2.1'])],
  )
  t.notMatch(JSON.stringify(fixture.lines), 'my secret')
  t.notMatch(JSON.stringify(fixture.lines), plain)
})
