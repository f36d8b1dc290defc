/** OAuth consent: the page, its conditions, and the redirect with the answer. */

import t, { type Test } from 'tap'
import {
  CALLBACK,
  type Fields,
  LOOPBACK,
  startOauthServer,
  TEA_REQUEST,
  type Tokens,
} from '../../../helpers/oauth.js'
import { passwordOf } from '../../../helpers/passwords.js'
import { withToken } from '../../../helpers/requests.js'

const PATH = '/login/oauth/authorize'
const SETTINGS = '/user/settings/oauth2'
/** Header of a browser that follows a link of one of our pages. */
const FROM_US = { 'sec-fetch-site': 'same-origin' }

async function aBrowser(t: Test) {
  const fixture = await startOauthServer(t)
  const { ask, send } = fixture
  const signIn = async (name: string) => {
    const fields = { user_name: name, password: passwordOf(name) }
    const { headers } = await send('/user/login', fields)
    return String(headers['set-cookie'] ?? '').split(';')[0] ?? ''
  }
  const cookie = await signIn('ada')
  const open = (fields: Fields, headers: Fields = { cookie }) =>
    ask({ path: `${PATH}?${new URLSearchParams(fields)}`, headers })
  const reply = (fields: Fields, answer: string, headers: Fields = {}) =>
    send(PATH, { ...fields, answer }, { cookie, ...headers })
  return { ...fixture, signIn, cookie, open, reply }
}

/** Returns the parameters sent to the application, and checks their address. */
function saidAt(address: string, location: string | undefined): URLSearchParams {
  const text = location ?? ''
  if (!text.startsWith(address)) throw new Error(`${text} is not at ${address}`)
  return new URL(text).searchParams
}

t.test('a user is asked for consent and the answer goes to the application', async (t) => {
  const { ask, open, reply, askToken, redeem } = await aBrowser(t)
  const page = await open(TEA_REQUEST)
  t.equal(page.status, 200)
  t.match(
    page.text,
    /Authorize tea to use your account\?.*signed in as ada.*Everything that you may do/s,
  )
  t.match(page.text, /127\.0\.0\.1:41234/)
  t.match(page.headers['content-security-policy'], /form-action 'self';/)
  t.match(page.headers['cache-control'], /no-store/)
  const granted = await reply(TEA_REQUEST, 'grant')
  t.equal(granted.status, 303)
  t.match(granted.headers, { 'referrer-policy': 'no-referrer', 'cache-control': /no-store/ })
  const said = saidAt(LOOPBACK, granted.headers.location)
  t.equal(said.get('state'), 'x y&z')
  const tokens = (await askToken(redeem(said.get('code') ?? ''))).json as Tokens
  const user = { path: '/api/v1/user', authorization: withToken(tokens.access_token) }
  t.match((await ask(user)).json, { login: 'ada' })
  const refused = saidAt(LOOPBACK, (await reply(TEA_REQUEST, 'refuse')).headers.location)
  t.equal(refused.get('error'), 'access_denied')
  t.equal(refused.get('state'), 'x y&z')
  t.equal((await open(TEA_REQUEST)).status, 200, 'a public client asks each time')
})

t.test(
  'a form leads out of the site over an intermediate page that the content security policy permits',
  async (t) => {
    const { reply } = await aBrowser(t)
    const { status, headers, text } = await reply(TEA_REQUEST, 'grant', FROM_US)
    t.equal(status, 200)
    t.equal(headers.location, undefined)
    const address = String(headers['refresh']).replace('0; url=', '')
    t.ok(saidAt(LOOPBACK, address).get('code'))
    t.ok(text.includes(`href="${address.replaceAll('&', '&amp;')}"`))
  },
)

t.test('an anonymous visitor signs in and returns to the consent page', async (t) => {
  const { open } = await aBrowser(t)
  const led = await open(TEA_REQUEST, {})
  t.equal(led.status, 303)
  const back = new URL(led.headers.location ?? '', 'http://x').searchParams.get('redirect_to') ?? ''
  t.equal(back, `${PATH}?${new URLSearchParams(TEA_REQUEST)}`)
})

t.test('a confidential application with a grant is not asked about again', async (t) => {
  const { open, reply, asks, cookie, signIn, send, application } = await aBrowser(t)
  const page = await open({ ...asks, scope: 'read:user' })
  t.match(page.text, /Woodpecker &lt;b>.*registered on this server by .*bob/s)
  await reply({ ...asks, scope: 'read:user' }, 'grant')
  const again = await open({ ...asks, scope: 'read:user', state: 's' })
  t.equal(again.status, 303)
  t.ok(saidAt(CALLBACK, again.headers.location).get('code'))
  const signedIn = await open({ ...asks, scope: 'read:user' }, { cookie, ...FROM_US })
  t.match(signedIn.headers['refresh'], /^0; url=https:\/\/ci\.example\/authorize\?from=gate/)
  const referred = { cookie, referer: 'http://code.example.com/user/login?x' }
  t.equal((await open({ ...asks, scope: 'read:user' }, referred)).status, 200)
  t.equal((await open({ ...asks, scope: 'write:user' })).status, 200, 'for more scopes it asks')
  const other = await signIn('bob')
  t.equal(
    (await open({ ...asks, scope: 'read:user' }, { cookie: other })).status,
    200,
    'of another user',
  )
  const id = String(application.id)
  t.equal((await send(`${SETTINGS}/revoke`, { id }, { cookie: other })).status, 303)
  t.equal(
    (await open({ ...asks, scope: 'read:user' })).status,
    303,
    "bob cannot revoke ada's grant",
  )
  await send(`${SETTINGS}/revoke`, { id }, { cookie })
  t.equal((await open({ ...asks, scope: 'read:user' })).status, 200, 'revoked')
})

t.test('a user is never redirected to an address that is not registered', async (t) => {
  const { open, reply, asks } = await aBrowser(t)
  for (const [name, fields] of [
    ['no client', { ...TEA_REQUEST, client_id: 'nobody' }],
    ['another site', { ...TEA_REQUEST, redirect_uri: 'https://evil.example/' }],
    ['a lookalike', { ...TEA_REQUEST, redirect_uri: 'http://127.0.0.1.evil.example/' }],
    ['another site before', { ...TEA_REQUEST, redirect_uri: 'http://127.0.0.1:1@evil.example/' }],
    ['a script', { ...TEA_REQUEST, redirect_uri: 'javascript:alert(1)' }],
    ['another path', { ...asks, redirect_uri: `${CALLBACK}&x` }],
    ['none of two', { ...TEA_REQUEST, redirect_uri: '' }],
  ] as const) {
    for (const { status, headers, text } of [
      await open(fields),
      await open(fields, {}),
      await reply(fields, 'grant'),
      await reply(fields, 'grant', FROM_US),
    ]) {
      t.equal(status, 400, name)
      t.notOk(headers.location ?? headers['refresh'], name)
      t.notMatch(text, /href="[^"]*evil/, name)
    }
  }
  const twice = `${new URLSearchParams(TEA_REQUEST)}&redirect_uri=https://evil.example/`
  const { ask, cookie } = await aBrowser(t)
  t.equal((await ask({ path: `${PATH}?${twice}`, headers: { cookie } })).status, 400)
})

t.test("errors of a request are sent to the application's address", async (t) => {
  const { open, reply, asks } = await aBrowser(t)
  for (const [error, fields, base] of [
    ['unsupported_response_type', { response_type: 'token' }, TEA_REQUEST],
    ['unsupported_response_type', { response_type: '' }, asks],
    ['invalid_request', { code_challenge_method: 'plain' }, TEA_REQUEST],
    ['invalid_request', { code_challenge_method: '' }, TEA_REQUEST],
    ['invalid_request', { code_challenge: '', code_challenge_method: '' }, TEA_REQUEST],
    ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }, asks],
    ['invalid_request', { nonce: 'n'.repeat(256) }, asks],
    ['invalid_scope', { scope: 'sudo' }, asks],
  ] as const) {
    const input = { ...base, ...fields, state: 's' }
    for (const { headers } of [await open(input), await reply(input, 'grant')]) {
      const said = saidAt(base === asks ? CALLBACK : LOOPBACK, headers.location)
      t.equal(said.get('error'), error, JSON.stringify(fields))
      t.equal(said.get('state'), 's')
      t.equal(said.get('code'), null)
    }
  }
})

t.test('a form of another site grants nothing', async (t) => {
  const { reply, open, asks } = await aBrowser(t)
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    t.equal((await reply(asks, 'grant', headers)).status, 403)
  }
  t.equal((await reply(asks, 'grant', { cookie: '' })).status, 401)
  t.equal((await open(asks)).status, 200, 'still asked')
})

t.test('an application is created, its secret shown once, and deleted', async (t) => {
  const { ask, send, cookie, open, askToken, signIn } = await aBrowser(t)
  const redirects = 'https://app.example/cb\nhttps://app.example/other'
  const fields = { name: 'My <app>', redirects, confidential: 'on' }
  const made = await send(SETTINGS, fields, { cookie })
  const [, clientId = ''] = /id="client"[^>]*value="([\w-]{36})"/.exec(made.text) ?? []
  const [, secret = ''] = /value="(gto_\w+)"/.exec(made.text) ?? []
  t.ok(clientId && secret)
  const shown = () => ask({ path: SETTINGS, headers: { cookie } })
  const listed = (await shown()).text
  t.match(listed, /My &lt;app>/)
  t.notMatch(listed, secret)
  const asks = {
    client_id: clientId,
    redirect_uri: 'https://app.example/cb',
    response_type: 'code',
  }
  t.equal((await open(asks)).status, 200)
  const client = { client_id: clientId, client_secret: secret, grant_type: 'refresh_token' }
  t.match((await askToken(client)).json, { error: 'invalid_grant' }, 'the secret is correct')
  const open2 = await send(SETTINGS, { name: 'cli', redirects: 'http://127.0.0.1/' }, { cookie })
  t.notMatch(open2.text, /gto_/, 'a public application has no secret')
  for (const [wrong, sentence] of [
    [{ ...fields, name: ' ' }, /A title is not blank/],
    [{ ...fields, redirects: 'javascript:alert(1)' }, /is neither http/],
    [{ ...fields, redirects: '' }, /is not a complete URL/],
  ] as const) {
    const { status, text } = await send(SETTINGS, wrong, { cookie })
    t.ok(status >= 400 && status < 500)
    t.match(text, sentence)
  }
  const [, id = ''] = /name="id" value="(\d+)"/.exec(listed) ?? []
  await send(`${SETTINGS}/delete`, { id }, { cookie: await signIn('bob') })
  t.match((await shown()).text, /My &lt;app>/, "it is not bob's")
  await send(`${SETTINGS}/delete`, { id }, { cookie })
  t.equal((await open(asks)).status, 400)
})
