/** OpenID Connect: discovery and signed id tokens. */

import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import t from 'tap'
import { BASE_URL } from '../../helpers/gateway.js'
import { startOauthServer, TEA } from '../../helpers/oauth.js'

const partOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())

t.test('an id token is signed with the published key', async (t) => {
  const { ask, tokensOf, ada, db } = await startOauthServer(t)
  const configuration = (await ask({ path: '/.well-known/openid-configuration' })).json
  t.match(configuration, { issuer: BASE_URL, token_endpoint: /access_token$/ })
  const { jwks_uri: address } = configuration as { jwks_uri: string }
  const found = () => ask({ path: new URL(address).pathname })
  const [first, second] = await Promise.all([found(), found()])
  t.strictSame(first.json, second.json, 'the key is created once')
  const [jwk] = (first.json as { keys: JsonWebKey[] }).keys
  t.strictSame(Object.keys(jwk ?? {}).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use'])
  const { id_token: token = '' } = await tokensOf({ scope: 'openid email', nonce: 'once' })
  const [head = '', body = '', signature = ''] = token.split('.')
  t.match(partOf(head), { alg: 'RS256', kid: jwk?.['kid'] })
  const seconds = Date.now() / 1_000
  const claims = partOf(body)
  t.match(claims, { iss: BASE_URL, aud: TEA, sub: String(ada.id), nonce: 'once' })
  t.match(claims, { preferred_username: 'ada', email: 'ada@example.com' })
  t.ok(claims.iat <= seconds && claims.exp > seconds)
  const key = createPublicKey({ key: jwk ?? {}, format: 'jwk' })
  const isSigned = (text: string) =>
    verify('sha256', Buffer.from(text), key, Buffer.from(signature, 'base64url'))
  t.equal(isSigned(`${head}.${body}`), true)
  t.equal(isSigned(`${head}.${body}x`), false)
  t.equal((await tokensOf({ scope: 'read:user' })).id_token, undefined)
  const [row] = await db('oauth_keys').select('private_sealed')
  t.notMatch(row.private_sealed, /PRIVATE KEY/)
})
