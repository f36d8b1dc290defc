/** OAuth tokens: issued, used, refreshed, revoked and introspected. */

import t from 'tap'
import { CALLBACK, startOauthServer, TEA, TEA_REQUEST, type Tokens } from '../../helpers/oauth.js'
import { withPassword, withToken } from '../../helpers/requests.js'

t.test('a code is exchanged for tokens that work like personal tokens', async (t) => {
  const { ask, codeOf, askToken, redeem, refresh, db } = await startOauthServer(t)
  const code = await codeOf(TEA_REQUEST)
  const answer = await askToken(redeem(code))
  t.equal(answer.status, 200)
  t.match(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  const tokens = answer.json as Tokens
  t.match(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'all' })
  const access = tokens.access_token
  for (const authorization of [
    withToken(access),
    `Bearer ${access}`,
    withPassword('oauth2', access),
    withPassword(access, 'x-oauth-basic'),
    withPassword(access, ''),
  ]) {
    const user = await ask({ path: '/api/v1/user', authorization })
    t.match(user.json, { login: 'ada' }, authorization)
  }
  const tokensPath = { path: '/api/v1/users/ada/tokens', authorization: withToken(access) }
  t.equal((await ask(tokensPath)).status, 401, 'it cannot create a personal token')
  for (const other of [code, tokens.refresh_token, `${access}0`]) {
    t.equal((await ask({ path: '/api/v1/user', authorization: withToken(other) })).status, 401)
  }
  const next = (await askToken(refresh(tokens.refresh_token))).json as Tokens
  t.notMatch(next, tokens)
  t.equal((await ask({ path: '/api/v1/user', authorization: withToken(access) })).status, 200)
  const fresh = { path: '/api/v1/user', authorization: withToken(next.access_token) }
  t.equal((await ask(fresh)).status, 200)
  await db('oauth_tokens').update({ access_expires_at: Date.now() })
  t.equal((await ask(fresh)).status, 401, 'after an hour')
  await db('oauth_tokens').update({ refresh_expires_at: Date.now() })
  t.match((await askToken(refresh(next.refresh_token))).json, { error: 'invalid_grant' })
})

t.test('scopes of a token are the granted ones, in every form of its use', async (t) => {
  const { ask, tokensOf } = await startOauthServer(t)
  const { access_token: access, scope } = await tokensOf({ scope: 'openid read:user' })
  t.equal(scope, 'openid read:user')
  const body = { name: 'r' }
  for (const authorization of [
    withToken(access),
    withPassword('ada', access),
    withPassword(access, 'x-oauth-basic'),
  ]) {
    t.equal((await ask({ path: '/api/v1/user', authorization })).status, 200)
    const made = await ask({ method: 'POST', path: '/api/v1/user/repos', authorization, body })
    t.equal(made.status, 401)
    t.match(made.text, /required scope/)
  }
  const info = await ask({ path: '/login/oauth/userinfo', authorization: withToken(access) })
  t.match(info.json, { preferred_username: 'ada', email: 'ada@example.com', name: 'ada' })
  const anonymous = await ask({ path: '/login/oauth/userinfo' })
  t.match(anonymous.json, { error: 'invalid_token' })
  t.match(anonymous.headers['www-authenticate'], /^Bearer /)
})

t.test('a confidential client authenticates in the header or body, as JSON or form', async (t) => {
  const { ask, askToken, codeOf, asks, basic, clientId, secret } = await startOauthServer(t)
  const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK }
  const own = { client_id: clientId, client_secret: secret }
  const path = '/login/oauth/access_token'
  for (const send of [
    (code: string) => askToken({ ...fields, code, ...own }),
    (code: string) => askToken({ ...fields, code }, { authorization: basic }),
    (code: string) => askToken({ ...fields, code, client_id: clientId }, { authorization: basic }),
    (code: string) => ask({ method: 'POST', path, body: { ...fields, code, ...own } }),
  ]) {
    t.equal((await send(await codeOf(asks))).status, 200)
  }
  const code = await codeOf(asks)
  for (const [given, headers] of [
    [{ ...own, client_secret: 'wrong' }, {}],
    [{ client_id: clientId }, {}],
    [{ client_id: 'nobody' }, {}],
    [{}, {}],
    [{}, { authorization: withPassword(clientId, 'wrong') }],
    [{}, { authorization: withPassword(clientId, '') }],
    [{}, { authorization: 'Basic ?' }],
  ] as const) {
    const { status, json, headers: heads } = await askToken({ ...fields, code, ...given }, headers)
    t.equal(status, 401)
    t.match(json, { error: 'invalid_client' })
    t.match(heads['www-authenticate'], /^Basic /)
  }
  const two = await askToken({ ...fields, client_id: TEA }, { authorization: basic })
  t.match(two.json, { error: 'invalid_request' })
  const late = await askToken({ ...fields, code }, { authorization: basic })
  t.equal(late.status, 200, 'the code is still valid for the right client')
})

t.test('malformed requests get the errors of RFC 6749', async (t) => {
  const { ask, askToken, codeOf, redeem, send } = await startOauthServer(t)
  const path = '/login/oauth/access_token'
  const code = await codeOf(TEA_REQUEST)
  t.match((await askToken({ ...redeem(code), grant_type: 'password' })).json, {
    error: 'unsupported_grant_type',
  })
  t.match((await askToken(redeem(''))).json, { error: 'invalid_grant' })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const [body, headers] of [
    ['grant_type=a&grant_type=b', form],
    ['x'.repeat(70_000), form],
    ['grant_type=a', { 'content-type': 'text/plain' }],
    ['[]', {}],
    ['{', {}],
    ['null', {}],
    ['{"code":{"a":1}}', {}],
  ] as const) {
    const answer = await ask({ method: 'POST', path, body, headers })
    t.equal(answer.status, 400, body.slice(0, 20))
    t.match(answer.json, { error: 'invalid_request', error_description: String })
  }
  t.equal((await ask({ path })).status, 405)
  t.equal((await send(path, redeem(code))).status, 200)
})

t.test('an application revokes its own grant with either token, and no other grant', async (t) => {
  const { ask, basic, send, tokensOf } = await startOauthServer(t)
  const revoke = (fields: Record<string, string>, headers = {}) =>
    send('/login/oauth/revoke', fields, headers)
  const statusOf = async (token: string) =>
    (await ask({ path: '/api/v1/user', authorization: `Bearer ${token}` })).status
  const [one, other] = [await tokensOf(), await tokensOf()]
  t.equal((await revoke({ token: one.access_token }, { authorization: basic })).status, 200)
  t.equal(await statusOf(one.access_token), 200, 'another application revokes nothing')
  t.match((await revoke({ token: one.access_token })).json, { error: 'invalid_client' })
  t.equal((await revoke({ token: 'x', client_id: TEA })).status, 200)
  t.equal((await revoke({ token: one.refresh_token, client_id: TEA })).status, 200)
  t.equal(await statusOf(one.access_token), 401)
  t.equal(await statusOf(other.access_token), 200, 'the other machine stays signed in')
  t.equal((await revoke({ token: other.access_token, client_id: TEA })).status, 200)
  t.equal(await statusOf(other.access_token), 401)
})

t.test('a token is introspected by its own application only', async (t) => {
  const { askToken, codeOf, asks, basic, send, tokensOf, clientId, ada, db } =
    await startOauthServer(t)
  const code = await codeOf({ ...asks, scope: 'read:repository email' })
  const headers = { authorization: basic }
  const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code }
  const { access_token: token } = (await askToken(fields, headers)).json as Tokens
  const introspect = (token: string, headers: { readonly authorization?: string } = {}) =>
    send('/login/oauth/introspect', { token }, headers)
  const { json } = await introspect(token, headers)
  t.match(json, { active: true, username: 'ada', sub: String(ada.id), client_id: clientId })
  t.match(json, { scope: 'email read:repository', exp: Number })
  const foreign = (await tokensOf()).access_token
  t.strictSame((await introspect(foreign, headers)).json, { active: false })
  t.strictSame((await introspect('x', headers)).json, { active: false })
  const path = '/login/oauth/introspect'
  for (const fields of [{ token }, { token, client_id: TEA }]) {
    t.match((await send(path, fields)).json, { error: 'invalid_client' })
  }
  await db('users').where({ owner_id: ada.id }).update({ is_active: false })
  t.strictSame((await introspect(token, headers)).json, { active: false })
})
