/** Sign-in with a second factor, and the page on which it is enrolled and switched off. */

import t, { type Test } from 'tap'
import { startGateway } from '../../../helpers/gateway.js'
import { passwordOf } from '../../../helpers/passwords.js'
import type { Answer } from '../../../helpers/requests.js'
import { appOf, enrol } from '../../../helpers/second-factor.js'

const SECURITY = '/user/settings/security'
const RECOVERY_CODE = '0123456789abcdef0123'

/** Returns the cookies of a response, as a browser sends them back. */
function cookiesOf({ headers }: Pick<Answer, 'headers'>): string {
  const given = headers['set-cookie'] ?? []
  return given
    .map((cookie) => cookie.split(';')[0] ?? '')
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ')
}

async function openFixture(t: Test) {
  const gateway = await startGateway(t)
  const ada = await gateway.addUser('ada')
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    gateway.ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    })
  const proof = passwordOf('ada')
  const signIn = (redirect_to = '/', cookie = '') =>
    post('/user/login', { user_name: 'ada', password: proof, redirect_to }, cookie)
  const show = (path: string, cookie: string) => gateway.ask({ path, headers: { cookie } })
  const opens = async (cookie: string) => (await show(SECURITY, cookie)).status === 200
  return { ...gateway, ada, post, signIn, show, opens, proof }
}

t.test('a password leads to the code, and only the code to a session', async (t) => {
  const { ada, post, signIn, show, opens, ...fixture } = await openFixture(t)
  const app = await enrol(fixture, ada, RECOVERY_CODE)
  const half = await signIn('/ada?tab=x')
  const next = `/user/two-factor?redirect_to=${encodeURIComponent('/ada?tab=x')}`
  t.equal(half.status, 303)
  t.equal(half.headers.location, next)
  t.match(half.headers['set-cookie'], [/; Path=\/user\/two-factor; Max-Age=300; HttpOnly/])
  const ticket = cookiesOf(half)
  t.match(ticket, /^gatehouse_ticket=[0-9a-f]{40}$/)
  t.equal(await opens(ticket), false)
  t.equal(await opens(ticket.replace('ticket', 'session')), false)
  const page = await show(next, ticket)
  t.match(page.text, /Code from your app/)
  t.match(page.text, /name="redirect_to" value="\/ada\?tab=x"/)
  const wrong = await post('/user/two-factor', { code: '000000', redirect_to: '/x' }, ticket)
  t.equal(wrong.status, 401)
  t.match(wrong.text, /role="alert".*That code is wrong/s)
  t.match(wrong.text, /value="\/x"/)
  t.equal(cookiesOf(wrong), '')
  const code = app.code()
  const fields = { code: `${code.slice(0, 3)} ${code.slice(3)}`, redirect_to: '//evil.example' }
  const right = await post('/user/two-factor', fields, ticket)
  t.equal(right.headers.location, '/')
  t.match(right.headers['set-cookie']?.[0], /^gatehouse_ticket=; .*Max-Age=0/)
  const session = cookiesOf(right)
  t.equal(await opens(session), true)
  for (const used of [ticket, 'gatehouse_ticket=x', '']) {
    t.equal((await show(next, used)).headers.location, '/user/login', used)
    const late = await post('/user/two-factor', { code: app.code(1) }, used)
    t.equal(late.status, 401)
    t.match(late.text, /start again with your password/)
  }
  const again = cookiesOf(await signIn('/', session))
  const renewed = await post('/user/two-factor', { code: RECOVERY_CODE }, `${session}; ${again}`)
  t.equal(renewed.status, 303)
  t.equal(await opens(session), false, 'the previous session has ended')
  t.equal(await opens(cookiesOf(renewed)), true)
})

t.test('a ticket has five attempts, and one of concurrent posts succeeds', async (t) => {
  const { ada, post, signIn, opens, ...fixture } = await openFixture(t)
  const app = await enrol(fixture, ada)
  const posts = async (codes: readonly string[]) => {
    const ticket = cookiesOf(await signIn())
    return await Promise.all(codes.map((code) => post('/user/two-factor', { code }, ticket)))
  }
  const code = app.code()
  const answers = await posts(Array.from({ length: 20 }, () => code))
  const sessions = answers.map(cookiesOf).filter((cookie) => cookie !== '')
  t.equal(sessions.length, 1)
  t.equal(await opens(sessions[0] ?? ''), true)
  const guesses = await posts(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  const judged = guesses.filter(({ text }) => text.includes('That code is wrong'))
  t.ok(judged.length <= 5, `${judged.length} were checked`)
  t.equal(guesses.filter(({ text }) => text.includes('too many attempts')).length, 2)
})

t.test('enrolment needs the password and a code and ends other sessions', async (t) => {
  const { post, signIn, show, opens, proof, ask } = await openFixture(t)
  const [cookie, other] = [cookiesOf(await signIn()), cookiesOf(await signIn())]
  t.match((await show(SECURITY, cookie)).text, /<button[^>]*>Set up a second factor/)
  const begin = (proof: string) => post(`${SECURITY}/enrol`, { proof }, cookie)
  const unproven = await begin('not the password')
  t.equal(unproven.status, 401)
  t.match(unproven.text, /neither your password nor a valid code/)
  t.notMatch(unproven.text, /qr-code/)
  const offered = await begin(proof)
  t.match(offered.headers['cache-control'], /no-store/)
  t.match(offered.text, /<svg[^>]*><rect[^>]*\/><path/)
  const [, secret = ''] = /value="([A-Z2-7]{32})"/.exec(offered.text) ?? []
  t.match(offered.text, `otpauth://totp/code.example.com:ada?secret=${secret}`)
  t.notMatch((await show(SECURITY, cookie)).text, secret)
  const app = appOf(secret)
  const wrong = await post(`${SECURITY}/confirm`, { code: '000000' }, cookie)
  t.equal(wrong.status, 422)
  t.match(wrong.text, secret, 'to try again')
  t.equal(await opens(other), true)
  const done = await post(`${SECURITY}/confirm`, { code: app.code() }, cookie)
  t.equal(done.status, 200)
  const [, list = ''] = /<pre id="recovery-codes">([^<]+)</.exec(done.text) ?? []
  const codes = list.split('\n')
  t.equal(codes.length, 10)
  t.strictSame([await opens(cookie), await opens(other)], [false, false])
  const session = cookiesOf(done)
  const shown = await show(SECURITY, session)
  t.match(shown.text, /It was enabled/)
  t.notMatch(shown.text, secret)
  t.notMatch(shown.text, codes[0])
  const basic = `Basic ${Buffer.from(`ada:${proof}`).toString('base64')}`
  t.equal((await ask({ path: '/api/v1/user', authorization: basic })).status, 401)

  const renew = (proof: string) => post(`${SECURITY}/recovery-codes`, { proof }, session)
  t.equal((await renew('wrong')).status, 401)
  t.equal((await renew(codes[0] ?? '')).status, 401, 'a recovery code is valid for signing in only')
  const renewed = await renew(proof)
  t.match(renewed.text, /<pre id="recovery-codes">/)
  t.notMatch(renewed.text, codes[0])
  const ticket = cookiesOf(await signIn())
  t.equal((await post('/user/two-factor', { code: codes[0] ?? '' }, ticket)).status, 401)
  const disable = (proof: string) => post(`${SECURITY}/disable`, { proof }, session)
  t.equal((await disable('')).status, 401)
  t.equal((await disable(app.code(1))).headers.location, SECURITY)
  t.equal((await ask({ path: '/api/v1/user', authorization: basic })).status, 200)
  t.equal((await post('/user/two-factor', { code: app.code() }, ticket)).status, 401)
  t.match(cookiesOf(await signIn()), /^gatehouse_session=/)
})
