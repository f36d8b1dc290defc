/** Threat: stolen codes and tokens, and wrong redirect URIs, at the OAuth2 provider. */

import t from 'tap'
import { newOauthSecret } from '../../gateway/auth/oauth-secret.js'
import { deleteApplication } from '../../sql/accounts/oauth-applications.js'
import {
  CALLBACK,
  challengeOf,
  startOauthServer,
  TEA,
  TEA_REQUEST,
  type Tokens,
  VERIFIER,
} from '../helpers/oauth.js'
import { withToken } from '../helpers/requests.js'

t.test('a code that is redeemed twice revokes the tokens of its grant', async (t) => {
  const { ask, askToken, codeOf, redeem, tokensOf, refresh, lines } = await startOauthServer(t)
  const code = await codeOf(TEA_REQUEST)
  const other = await tokensOf()
  const tokens = (await askToken(redeem(code))).json as Tokens
  const second = await askToken(redeem(code, { code_verifier: 'wrong' }))
  t.equal(second.status, 400)
  t.match(second.json, { error: 'invalid_grant' })
  const user = { path: '/api/v1/user', authorization: withToken(tokens.access_token) }
  t.equal((await ask(user)).status, 401, 'the first token of the grant is revoked')
  t.match((await askToken(refresh(tokens.refresh_token))).json, { error: 'invalid_grant' })
  t.ok(lines.some(({ event }) => event === 'oauth-reuse'))
  t.notMatch(JSON.stringify(lines), new RegExp(`${code}|${tokens.access_token}`))
  t.equal((await askToken(refresh(other.refresh_token))).status, 200, 'another grant stays valid')
})

t.test('a code or refresh token redeemed concurrently succeeds at most once', async (t) => {
  const { ask, askToken, codeOf, redeem, tokensOf, refresh } = await startOauthServer(t)
  const code = redeem(await codeOf(TEA_REQUEST))
  const again = refresh((await tokensOf()).refresh_token)
  for (const fields of [code, again]) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => askToken(fields)))
    const given = answers.filter(({ status }) => status === 200)
    t.ok(given.length <= 1)
    for (const { json } of given) {
      const authorization = withToken((json as Tokens).access_token)
      t.equal((await ask({ path: '/api/v1/user', authorization })).status, 401)
    }
  }
})

t.test('a code is refused without its verifier, redirect URI and client', async (t) => {
  const { askToken, codeOf, redeem, asks, basic, clientId, secret, db } = await startOauthServer(t)
  const code = await codeOf(TEA_REQUEST)
  const wrong = 'another-verifier-of-forty-three-characters-or-more'
  const bobs = { client_id: clientId, client_secret: secret }
  for (const [name, fields] of [
    ['another verifier', { code_verifier: wrong }],
    ['none', { code_verifier: '' }],
    ['the challenge itself', { code_verifier: challengeOf(VERIFIER) }],
    ['another address', { redirect_uri: 'http://127.0.0.1:41235/' }],
    ['no address', { redirect_uri: '' }],
    ['another client', bobs],
  ] as const) {
    const { status, json } = await askToken(redeem(code, fields))
    t.equal(status, 400, name)
    t.match(json, { error: 'invalid_grant' }, name)
  }
  const { authorization } = { authorization: basic }
  const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK }
  const plain = await codeOf(asks)
  const downgraded = { ...fields, code: plain, code_verifier: VERIFIER }
  t.equal(
    (await askToken(downgraded, { authorization })).status,
    400,
    'a verifier without a challenge',
  )
  await db('oauth_grants').update({ code_expires_at: Date.now() })
  t.match((await askToken(redeem(code))).json, { error_description: /has expired/ })
})

t.test('a refresh token that is reused or comes from another client is refused', async (t) => {
  const { ask, askToken, tokensOf, refresh, basic } = await startOauthServer(t)
  const first = await tokensOf()
  const stolen = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
  t.match((await askToken(stolen, { authorization: basic })).json, { error: 'invalid_grant' })
  const second = (await askToken(refresh(first.refresh_token))).json as Tokens
  t.match((await askToken(refresh(first.refresh_token))).json, { error: 'invalid_grant' })
  t.match((await askToken(refresh(second.refresh_token))).json, { error: 'invalid_grant' })
  for (const { access_token: access } of [first, second]) {
    t.equal((await ask({ path: '/api/v1/user', authorization: withToken(access) })).status, 401)
  }
  const made = withToken(newOauthSecret('access'))
  t.equal((await ask({ path: '/api/v1/user', authorization: made })).status, 401)
})

t.test('tokens of deleted applications and disabled users are refused', async (t) => {
  const fixture = await startOauthServer(t)
  const { ask, askToken, codeOf, asks, basic, bob, ada, application, db } = fixture
  const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK }
  const taken = await askToken({ ...fields, code: await codeOf(asks) }, { authorization: basic })
  const { access_token: access, refresh_token: refreshToken } = taken.json as Tokens
  const user = { path: '/api/v1/user', authorization: withToken(access) }
  const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const late = { ...fields, code: await codeOf(asks) }
  await db('users').where({ owner_id: ada.id }).update({ is_login_prohibited: true })
  t.equal((await ask(user)).status, 403)
  for (const fields of [refresh, late]) {
    t.match((await askToken(fields, { authorization: basic })).json, { error: 'invalid_grant' })
  }
  await db('users').where({ owner_id: ada.id }).update({ is_login_prohibited: false })
  t.equal((await ask(user)).status, 200)
  await deleteApplication(db, { ownerId: bob.id, id: application.id })
  t.equal((await ask(user)).status, 401)
  const deleted = await askToken(refresh, { authorization: basic })
  t.match(deleted.json, { error: 'invalid_client' })
  t.match((await askToken({ ...refresh, client_id: TEA })).json, { error: 'invalid_grant' })
})
