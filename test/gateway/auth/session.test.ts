/** Browser sessions: their cookies, their end, and forms sent from another site. */

import t from 'tap'
import {
  beginSession,
  endSession,
  identifySession,
  refuseForeignOrigin,
} from '../../../gateway/auth/session.js'
import { aRequest } from '../../helpers/a-request.js'
import { openContext } from '../../helpers/gateway.js'

const withHeaders = (headers: Readonly<Record<string, string>>) =>
  aRequest({ headers: new Map(Object.entries(headers)) })

t.test('each sign-in begins a new session, and an ended one stays invalid', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const enter = async (cookie = '') => {
    const [, header] = await beginSession(context, withHeaders({ cookie }), ada)
    return header.split(';')[0] ?? ''
  }
  const whoIs = (cookie: string) => identifySession(context, withHeaders({ cookie }))
  const first = await enter('gatehouse_session=chosen-by-a-stranger')
  t.match(first, /^gatehouse_session=[0-9a-f]{40}$/)
  t.match(await whoIs(`other=1; ${first}`), { kind: 'user', user: ada, by: 'session' })
  const second = await enter(first)
  t.not(second, first)
  t.strictSame(await whoIs(first), { kind: 'anonymous' }, 'the previous session has ended')
  await endSession(context, withHeaders({ cookie: second }))
  t.strictSame(await whoIs(second), { kind: 'anonymous' })
  for (const odd of ['', 'gatehouse_session=', 'gatehouse_session=../../x', 'x']) {
    t.strictSame(await whoIs(odd), { kind: 'anonymous' }, odd)
  }
})

t.test('the cookie is HttpOnly, and Secure if the base URL is HTTPS', async (t) => {
  for (const [base, end] of [
    ['http://code.example.com', 'Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax'],
    ['https://example.com/code', 'Path=/code; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'],
  ] as const) {
    const environment = { GATEHOUSE_HTTP_BASE_URL: base }
    const { context, fixture } = await openContext(t, { environment })
    const ada = await fixture.addUser('ada')
    const [, header] = await beginSession(context, aRequest(), ada)
    t.equal(header.replace(/^[^;]*; /, ''), end)
  }
})

t.test('a form is accepted from this site and from clients that are not browsers', async (t) => {
  const { context } = await openContext(t)
  const own = 'http://code.example.com'
  const refused = (headers: Readonly<Record<string, string>>) => {
    try {
      refuseForeignOrigin(withHeaders(headers), context.settings)
      return false
    } catch {
      return true
    }
  }
  for (const [headers, isRefused] of [
    [{}, false],
    [{ origin: own }, false],
    [{ origin: 'http://gatehouse:3000', host: 'gatehouse:3000' }, false],
    [{ 'sec-fetch-site': 'same-origin', origin: own }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ origin: 'http://evil.example', host: 'code.example.com' }, true],
    [{ origin: 'null' }, true],
    [{ origin: 'http://code.example.com.evil.example' }, true],
    [{ 'sec-fetch-site': 'cross-site', origin: own }, true],
    [{ 'sec-fetch-site': 'same-site' }, true],
  ] as const) {
    t.equal(refused(headers), isRefused, JSON.stringify(headers))
  }
})
