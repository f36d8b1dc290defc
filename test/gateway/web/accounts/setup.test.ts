/** The first account: created on the machine itself or with the code in its log, once. */

import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isAtMachine, setUpCodeOf } from '../../../../gateway/auth/set-up.js'
import { listUsers } from '../../../../sql/accounts/users.js'
import { startGateway } from '../../../helpers/gateway.js'
import { temporaryFolder } from '../../../helpers/temporary.js'
import { cookieOf, postForm } from '../../../helpers/web-forms.js'

const LOCAL = 'http://localhost:3000'
const FIELDS = { user_name: 'ada', email: 'ada@example.com', password: 'a long password' }

/** Starts a gateway without accounts; requests come from a browser on the same machine. */
const startNewServer = (t: Test, baseUrl = LOCAL) =>
  startGateway(t, { environment: { GATEHOUSE_HTTP_BASE_URL: baseUrl } })

t.test('a user on the machine itself creates the first account, an administrator', async (t) => {
  const gateway = await startNewServer(t)
  const { ask, db } = gateway
  t.match((await ask({ path: '/' })).text, /no account yet.*href="\/setup"/)
  t.match((await ask({ path: '/setup' })).text, /<h1>Set up<\/h1>/)
  for (const [fields, sentence] of [
    [{ ...FIELDS, user_name: 'admin' }, /reserved/],
    [{ ...FIELDS, user_name: '<b>' }, /starts with a letter or a digit/],
    [{ ...FIELDS, email: 'nowhere' }, /e-mail address is not valid/],
    [{ ...FIELDS, password: 'short' }, /8 to 256 characters/],
  ] as const) {
    const again = await postForm(gateway, '/setup', fields)
    t.equal(again.status, 422)
    t.match(again.text, sentence)
    t.notMatch(again.text, fields.password === 'short' ? /value="short"/ : /a long password/)
  }
  const made = await postForm(gateway, '/setup', FIELDS)
  t.equal(made.status, 303)
  const settings = { path: '/user/settings/applications', headers: { cookie: cookieOf(made) } }
  t.equal((await ask(settings)).status, 200, 'with a session')
  const { entries } = await listUsers(db, { page: 1, limit: 5 })
  t.match(entries, [{ name: 'ada', isAdmin: true }])
  t.equal((await ask({ path: '/setup' })).status, 404, 'afterwards the page is 404')
  t.equal((await postForm(gateway, '/setup', { ...FIELDS, user_name: 'eve' })).status, 404)
  t.notMatch((await ask({ path: '/' })).text, /no account yet/)
})

t.test('from elsewhere the page is 404 without the code', async (t) => {
  const gateway = await startNewServer(t)
  const { ask, db, settings } = gateway
  const code = await setUpCodeOf(settings.data.dir)
  const elsewhere: ReadonlyArray<Record<string, string>> = [
    { 'x-forwarded-for': '192.0.2.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-proto': 'https' },
    { 'x-real-ip': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { via: '1.1 proxy' },
    { host: 'code.example.com' },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost@evil.example' },
  ]
  for (const headers of elsewhere) {
    const what = JSON.stringify(headers)
    t.equal((await ask({ path: '/setup', headers })).status, 404, what)
    t.equal((await postForm(gateway, '/setup', FIELDS, headers)).status, 404, what)
    t.match((await ask({ path: '/', headers })).text, /The server log contains/, what)
  }
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  const wrong = await ask({ path: `/setup?code=${'0'.repeat(40)}`, headers })
  t.equal(wrong.status, 404)
  t.equal(wrong.text, (await ask({ path: '/setup', headers })).text)
  const form = await ask({ path: `/setup?code=${code}`, headers })
  t.match(form.text, new RegExp(`name="code" value="${code}"`))
  t.match(form.headers['cache-control'], /no-store/)
  t.equal((await postForm(gateway, '/setup', { ...FIELDS, code }, headers)).status, 303)
  t.equal((await listUsers(db, { page: 1, limit: 5 })).total, 1)
  t.notMatch(await readdir(settings.data.dir), /set-up/, 'the code is deleted')
})

t.test('gateways of a data folder have the same code, and a new one after a day', async (t) => {
  const folder = await temporaryFolder(t)
  const codes = await Promise.all([1, 2, 3].map(() => setUpCodeOf(folder)))
  t.equal(new Set(codes).size, 1, 'gateways that start together')
  t.equal(await setUpCodeOf(folder), codes[0], 'a later one')
  const past = new Date(Date.now() - 25 * 3_600_000)
  await utimes(join(folder, 'set-up.code'), past, past)
  const next = await setUpCodeOf(folder)
  t.not(next, codes[0])
  t.equal(await setUpCodeOf(folder), next)
  t.strictSame(await readdir(folder), ['set-up.code'])
})

t.test('an address of the network is not the machine itself', async (t) => {
  const headers = new Map([['host', 'localhost:3000']])
  const at = (address: string) =>
    isAtMachine({ address, headers } as never, { http: { baseUrl: LOCAL } } as never)
  for (const address of ['127.0.0.1', '127.9.9.9', '::1']) t.ok(at(address), address)
  for (const address of ['192.168.0.2', '::2', '']) t.notOk(at(address), address)
})

t.test('with a public base URL the code is always required', async (t) => {
  const { ask } = await startNewServer(t, 'https://code.example.com')
  t.equal((await ask({ path: '/setup' })).status, 404)
})

t.test('guesses of the code are limited, and forms of another site are refused', async (t) => {
  const gateway = await startNewServer(t)
  const code = await setUpCodeOf(gateway.settings.data.dir)
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  const guess = (tried: string) => gateway.ask({ path: `/setup?code=${tried}`, headers })
  for (let n = 0; n < 20; n += 1) t.equal((await guess(`${n}`)).status, 404)
  const late = await guess(code)
  t.equal(late.status, 429, 'the correct code comes too late')
  t.ok(Number(late.headers['retry-after']) > 3_000)
  const foreign = { origin: 'http://evil.example' }
  t.equal((await postForm(gateway, '/setup', FIELDS, foreign)).status, 403)
})

t.test('of concurrent set-ups one creates an account', async (t) => {
  const gateway = await startNewServer(t)
  const names = ['ada', 'bob', 'cyd']
  const statuses = await Promise.all(
    names.map(async (name) => {
      const fields = { ...FIELDS, user_name: name, email: `${name}@example.com` }
      return (await postForm(gateway, '/setup', fields)).status
    }),
  )
  t.strictSame(statuses.sort(), [303, 404, 404])
  t.equal((await listUsers(gateway.db, { page: 1, limit: 5 })).total, 1)
})
