/** Security keys are added in the account settings and accepted in place of a code. */

import t, { type Test } from 'tap'
import { KEY_SCRIPT } from '../../../../gateway/web/asset-files.js'
import { BASE_URL, startGateway } from '../../../helpers/gateway.js'
import { passwordOf } from '../../../helpers/passwords.js'
import type { Answer } from '../../../helpers/requests.js'
import { enrol } from '../../../helpers/second-factor.js'
import { aSecurityKey } from '../../../helpers/security-key.js'
import { cookieOf, postForm } from '../../../helpers/web-forms.js'

const SECURITY = '/user/settings/security'
const KEYS = `${SECURITY}/keys`
const proof = passwordOf('ada')
const SCRIPT = `<script type="module" src="${BASE_URL}${KEY_SCRIPT.path}"></script>`

async function openFixture(t: Test) {
  const gateway = await startGateway(t)
  const app = await enrol(gateway, await gateway.addUser('ada'))
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    postForm(gateway, path, fields, { cookie })
  const show = (path: string, cookie: string) => gateway.ask({ path, headers: { cookie } })
  const half = async () =>
    cookieOf(await post('/user/login', { user_name: 'ada', password: proof, redirect_to: '/x' }))
  const ticket = await half()
  const { headers } = await post('/user/two-factor', { code: app.code() }, ticket)
  const session = String(headers['set-cookie']?.[1]).split(';')[0] ?? ''
  return { ...gateway, app, post, show, half, session }
}

/** Returns the options for the browser's key request from the page. */
function optionsOf({ text }: Answer): object {
  const [, options = ''] = /data-options="([^"]*)"/.exec(text) ?? []
  return JSON.parse(options.replaceAll('&quot;', '"'))
}

const policyOf = ({ headers }: Answer) => String(headers['content-security-policy'])

t.test('a key is added with a proof, signs in, and is deleted with a proof', async (t) => {
  const { app, post, show, half, session } = await openFixture(t)
  const key = aSecurityKey()
  const name = '<b>blue</b>'
  const without = await show(SECURITY, session)
  t.match(without.text, /<h2>Security keys<\/h2>/)
  t.notMatch(without.text + policyOf(without), /<script|script-src/)
  for (const [fields, status] of [
    [{ name, proof: 'wrong' }, 401],
    [{ name: ' ', proof }, 422],
  ] as const) {
    const refused = await post(KEYS, fields, session)
    t.equal(refused.status, status)
    t.notMatch(refused.text, /data-options/)
  }
  t.equal((await post(KEYS, { name, proof })).status, 401, 'an anonymous visitor')
  const asked = await post(KEYS, { name, proof }, session)
  t.match(asked.headers['cache-control'], /no-store/)
  t.equal(policyOf(asked).split('; ').at(-1), `script-src ${BASE_URL}${KEY_SCRIPT.path}`)
  t.match(policyOf(asked), /default-src 'none'/)
  t.match(asked.text, SCRIPT)
  t.match(asked.text, /<form [^>]*hidden[^>]*data-ceremony="create"/)
  t.match(asked.text, /<noscript>.*needs JavaScript/s)
  const creation = optionsOf(asked)
  t.match(creation, { rp: { id: 'code.example.com' }, user: { name: 'ada' }, attestation: 'none' })
  const wrong = await post(`${KEYS}/confirm`, { name, answer: '{}' }, session)
  t.equal(wrong.status, 422)
  t.match(wrong.text, /role="alert"[^<]*>That is not the answer of a key/)
  const confirmed = await post(`${KEYS}/confirm`, { name, answer: key.create(creation) }, session)
  t.equal(confirmed.headers.location, SECURITY)
  const listed = (await show(SECURITY, session)).text
  t.match(listed, /&lt;b>blue&lt;\/b>.*not used yet/s)

  const ticket = await half()
  const page = await show('/user/two-factor?redirect_to=/x', ticket)
  t.match(page.text, /data-ceremony="get"/)
  t.match(page.text, /Use a security key/)
  t.match(page.text, SCRIPT)
  t.match(policyOf(page), `script-src ${BASE_URL}${KEY_SCRIPT.path}`)
  const answer = key.get(optionsOf(page))
  const fields = { answer, redirect_to: '/x' }
  t.equal((await post('/user/two-factor/key', fields)).status, 401, 'without the ticket')
  const signedIn = await post('/user/two-factor/key', fields, ticket)
  t.equal(signedIn.headers.location, '/x')
  t.match(signedIn.headers['set-cookie'], [/^gatehouse_ticket=;/, /^gatehouse_session=/])
  t.match((await show(SECURITY, session)).text, /last used/)
  const again = await half()
  t.equal((await post('/user/two-factor/key', fields, again)).status, 401, 'used')
  t.equal((await post('/user/two-factor', { code: app.code(1) }, again)).status, 303)

  const [, id = ''] = /<option value="(\d+)"/.exec(listed) ?? []
  t.equal((await post(`${KEYS}/delete`, { id, proof: '' }, session)).status, 401)
  t.equal((await post(`${KEYS}/delete`, { id, proof }, session)).status, 303)
  t.notMatch((await show(SECURITY, session)).text, /blue/)
  const bare = await show('/user/two-factor', await half())
  t.notMatch(bare.text + policyOf(bare), /<script|script-src|security key/)
})

t.test('a wrong answer costs an attempt, and a new challenge is given', async (t) => {
  const { post, show, half, session } = await openFixture(t)
  const key = aSecurityKey()
  const options = optionsOf(await post(KEYS, { name: 'k', proof }, session))
  await post(`${KEYS}/confirm`, { name: 'k', answer: key.create(options) }, session)
  const ticket = await half()
  const first = optionsOf(await show('/user/two-factor', ticket))
  const origin = 'http://code.example.org'
  const wrong = await post('/user/two-factor/key', { answer: key.get(first, { origin }) }, ticket)
  t.equal(wrong.status, 401)
  t.match(wrong.text, /That was no key of this account/)
  t.not(JSON.stringify(optionsOf(wrong)), JSON.stringify(first))
  for (let n = 0; n < 4; n += 1) {
    t.match((await post('/user/two-factor/key', { answer: 'x' }, ticket)).status, 401)
  }
  const late = await post('/user/two-factor/key', { answer: key.get(optionsOf(wrong)) }, ticket)
  t.match(late.text, /too many attempts/)
})

t.test('keys are deleted when the second factor is switched off', async (t) => {
  const { db, post, session } = await openFixture(t)
  const options = optionsOf(await post(KEYS, { name: 'k', proof }, session))
  const answer = aSecurityKey().create(options)
  t.equal((await post(`${SECURITY}/disable`, { proof }, session)).status, 303)
  const late = await post(`${KEYS}/confirm`, { name: 'k', answer }, session)
  t.equal(late.status, 409)
  t.match(late.text, /Set up a second factor first/)
  t.strictSame(await db('security_keys').select(), [])
})
