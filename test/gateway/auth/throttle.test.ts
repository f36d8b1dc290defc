/** Limits of failed sign-ins, which do not affect other clients. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { createLocalThrottle, type Throttle } from '../../../gateway/auth/throttle.js'
import { startGateway } from '../../helpers/gateway.js'
import { passwordOf } from '../../helpers/passwords.js'
import { withPassword, withToken } from '../../helpers/requests.js'

async function fail(throttle: Throttle, name: string, address: string, times: number) {
  for (let n = 0; n < times; n += 1) await throttle.failed({ name, address })
}

/** Returns the seconds to wait, or undefined if the attempt is permitted. */
async function waitOf(throttle: Throttle, name: string, address: string) {
  try {
    await throttle.check({ name, address })
    return undefined
  } catch (error) {
    if (error instanceof Failure && error.failure === 'throttled') return error.retryAfterSeconds
    throw error
  }
}

t.test('an address is limited after ten failures for one account', async (t) => {
  const throttle = createLocalThrottle()
  await fail(throttle, 'ada', '192.0.2.1', 9)
  t.equal(await waitOf(throttle, 'ada', '192.0.2.1'), undefined)
  await fail(throttle, 'ada', '192.0.2.1', 1)
  const wait = await waitOf(throttle, 'ada', '192.0.2.1')
  t.ok(wait !== undefined && wait > 800 && wait <= 900, `${wait} s`)
  t.ok(await waitOf(throttle, 'ADA', '192.0.2.1'), 'in any case of the name')
  t.equal(await waitOf(throttle, 'ada', '192.0.2.2'), undefined, 'another address')
  t.equal(await waitOf(throttle, 'bob', '192.0.2.1'), undefined, 'another account')
})

t.test('an address is limited after thirty failures for all accounts', async (t) => {
  const throttle = createLocalThrottle()
  for (let n = 0; n < 30; n += 1) await fail(throttle, `user${n}`, '192.0.2.1', 1)
  t.ok(await waitOf(throttle, 'another', '192.0.2.1'))
  t.equal(await waitOf(throttle, 'user1', '192.0.2.2'), undefined)
})

t.test(
  'an account is limited after a hundred failures, except from its known addresses',
  async (t) => {
    const throttle = createLocalThrottle()
    await throttle.succeeded({ name: 'ada', address: '192.0.2.1' })
    await sleep(20)
    for (let n = 0; n < 100; n += 1) await fail(throttle, 'ada', `198.51.100.${n}`, 1)
    t.ok(await waitOf(throttle, 'ada', '203.0.113.1'), 'an unknown address has to wait')
    t.equal(await waitOf(throttle, 'ada', '192.0.2.1'), undefined, 'a known one does not')
  },
)

t.test('an IPv6 /64 network counts as one address, in any notation', async (t) => {
  const sameAs = async (one: string, other: string) => {
    const throttle = createLocalThrottle()
    await fail(throttle, 'ada', one, 10)
    return (await waitOf(throttle, 'ada', other)) !== undefined
  }
  t.ok(await sameAs('2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'))
  t.ok(await sameAs('2001:db8::1', '2001:db8::2'))
  t.ok(await sameAs('2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0009'))
  t.ok(await sameAs('::1', '::2'))
  t.ok(await sameAs('2001:DB8:1:2::1', '2001:db8:1:2:3::'))
  t.notOk(await sameAs('2001:db8:1:2::1', '2001:db8:1:3::1'))
  t.notOk(await sameAs('2001:db8::1', '2001:db8:0:1::1'))
})

t.test(
  'over HTTP a guessing client is limited, and tokens and other addresses still work',
  async (t) => {
    const { ask, addUser, addToken } = await startGateway(t)
    const ada = await addUser('ada')
    const { plain } = await addToken(ada, 'all')
    const signIn = (password: string, from: string) =>
      ask({
        path: '/api/v1/user',
        authorization: withPassword('ada', password),
        headers: { 'x-forwarded-for': from },
      })
    const [guesser, home] = ['192.0.2.1', '192.0.2.2']
    for (let n = 0; n < 10; n += 1) t.equal((await signIn(`guess ${n}`, guesser)).status, 401)
    const stopped = await signIn(passwordOf('ada'), guesser)
    t.equal(stopped.status, 429)
    t.match(stopped.headers['retry-after'], /^\d+$/)
    t.match(stopped.json, { message: /Too many failed sign-ins/ })
    const headers = { 'x-forwarded-for': guesser }
    const byToken = { path: '/api/v1/user', headers }
    t.equal((await ask({ ...byToken, authorization: withToken(plain) })).status, 200)
    t.equal((await ask({ ...byToken, authorization: withPassword('ada', plain) })).status, 200)
    t.equal((await signIn(passwordOf('ada'), home)).status, 200)
  },
)

t.test('concurrent guesses are answered at most about ten times', async (t) => {
  const { ask, addUser } = await startGateway(t)
  await addUser('ada')
  const guesses = Array.from({ length: 40 }, (_, n) =>
    ask({ path: '/api/v1/user', authorization: withPassword('ada', `guess ${n}`) }),
  )
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  const told = statuses.filter((status) => status === 401).length
  t.ok(told <= 20, `${told} guesses were answered as wrong`)
  t.equal(statuses.filter((status) => status === 429).length, 40 - told)
})
