/**
 * Second factors: enrolled with a code, each code counts once, and secrets are sealed per account.
 */

import t, { type Test } from 'tap'
import {
  beginEnrolment,
  confirmEnrolment,
  hasSecondFactor,
  renewRecoveryCodes,
  verifyCode,
  waitingSecret,
} from '../../../gateway/auth/second-factor.js'
import { openContext } from '../../helpers/gateway.js'
import { appOf, enrol } from '../../helpers/second-factor.js'

const WRONG = { message: /^That code is wrong/ }
const STALE = { message: /^The second factor was changed meanwhile/ }

async function openFixture(t: Test) {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const judge = (code: string, user = ada, address = '192.0.2.1') =>
    verifyCode(context, { user, code, address })
  return { context, fixture, ada, bob, judge }
}

t.test('a second factor is active after a code has confirmed its secret', async (t) => {
  const { context, fixture, ada, judge } = await openFixture(t)
  await beginEnrolment(context, ada)
  const first = appOf((await waitingSecret(context, ada)) ?? '')
  await beginEnrolment(context, ada)
  const app = appOf((await waitingSecret(context, ada)) ?? '')
  t.not(app.secret, first.secret, 'a second enrolment has another secret')
  t.equal(await hasSecondFactor(context.db, ada.id), false)
  await t.rejects(judge(app.code()), WRONG, 'a code of a factor that is not active')
  const confirm = (code: string) => confirmEnrolment(context, { user: ada, code })
  await t.rejects(confirm(first.code()), { message: /not the current code of this secret/ })
  const codes = await confirm(app.code().replace(/^.../, '$& '))
  t.equal(new Set(codes).size, 10)
  for (const code of codes) t.match(code, /^(?:[0-9a-f]{5}-){3}[0-9a-f]{5}$/)
  t.equal(await hasSecondFactor(context.db, ada.id), true)
  t.equal(await waitingSecret(context, ada), undefined, 'the secret is not shown again')
  await t.rejects(confirm(app.code(1)), STALE)
  await t.rejects(beginEnrolment(context, ada), { message: /already: disable it first/ })
  const rows = JSON.stringify(await fixture.db('second_factors').select())
  t.notMatch(rows, app.secret)
  t.notMatch(JSON.stringify(fixture.lines), app.secret)
})

t.test('a code is accepted once, and earlier ones are refused', async (t) => {
  const { fixture, ada, bob, judge } = await openFixture(t)
  const app = await enrol(fixture, ada)
  const others = await enrol(fixture, bob)
  const [before, code] = [app.code(-1), app.code()]
  await judge(code)
  for (const wrong of [code, before, others.code(1), '', '000000000']) {
    await t.rejects(judge(wrong), WRONG, wrong)
  }
})

t.test(
  'a recovery code is accepted once, for its account only, until it is replaced',
  async (t) => {
    const { context, fixture, ada, bob, judge } = await openFixture(t)
    await enrol(fixture, ada, 'a'.repeat(20))
    await enrol(fixture, bob, 'b'.repeat(20))
    await t.rejects(judge('b'.repeat(20)), WRONG, 'of another account')
    await judge('AAAAA-aaaaa aaaaa-aaaaa')
    await t.rejects(judge('a'.repeat(20)), WRONG)
    const [old = '', kept = ''] = await renewRecoveryCodes(context.db, ada)
    await judge(old)
    const [fresh = ''] = await renewRecoveryCodes(context.db, ada)
    await t.rejects(judge(kept), WRONG)
    await judge(fresh)
    const carol = await fixture.addUser('carol')
    await t.rejects(renewRecoveryCodes(context.db, carol), STALE)
  },
)

t.test('concurrent guesses are limited like consecutive ones', async (t) => {
  const { fixture, ada, judge } = await openFixture(t)
  const app = await enrol(fixture, ada)
  const guesses = Array.from({ length: 50 }, (_, n) => judge(`guess ${n}`))
  const names = (await Promise.allSettled(guesses)).map((outcome) =>
    outcome.status === 'rejected' ? outcome.reason.failure : 'right',
  )
  t.equal(names.filter((name) => name === 'bad_credentials').length, 10)
  t.equal(names.filter((name) => name === 'throttled').length, 40)
  await t.rejects(judge(app.code()), { message: /^Too many failed/ })
  await judge(app.code(), ada, '192.0.2.200')
})

t.test('a secret sealed for one account cannot be unsealed for another', async (t) => {
  const { fixture, ada, bob, judge } = await openFixture(t)
  const app = await enrol(fixture, bob)
  await enrol(fixture, ada)
  const { secret_sealed } = await fixture.db('second_factors').where({ user_id: bob.id }).first()
  await fixture.db('second_factors').where({ user_id: ada.id }).update({ secret_sealed })
  await t.rejects(judge(app.code()), {
    message: /^The second factor of ada was sealed with another secret\.key/,
  })
  await judge(app.code(), bob)
})

t.test('correct codes do not count as attempts', async (t) => {
  const { context, fixture, ada, judge } = await openFixture(t)
  await enrol(fixture, ada)
  for (let n = 0; n < 2; n += 1) {
    for (const code of await renewRecoveryCodes(context.db, ada)) await judge(code)
  }
  t.pass('twenty in a row')
})
