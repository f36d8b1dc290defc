/** Security keys: accepted for our origin, their account, and a challenge that is used once. */

import t, { type Test } from 'tap'
import { switchOff } from '../../../gateway/auth/second-factor.js'
import {
  addKey,
  creationOptions,
  refuseKeyName,
  requestOptions,
  verifyKey,
} from '../../../gateway/auth/security-keys.js'
import { hashToken, newToken } from '../../../gateway/auth/token.js'
import { openTicket } from '../../../sql/accounts/second-factors.js'
import { listSecurityKeys } from '../../../sql/accounts/security-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import { openContext } from '../../helpers/gateway.js'
import { enrol } from '../../helpers/second-factor.js'
import { aSecurityKey, type Forgery, type SoftwareKey } from '../../helpers/security-key.js'

const address = '192.0.2.1'
const WRONG = { message: /^That was no key of this account/ }
const NO_ANSWER = { message: /^That is not the answer of a key to this page/ }

async function openFixture(t: Test) {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  await enrol(fixture, ada)
  await enrol(fixture, bob)
  const add = async (user: User, key: SoftwareKey, twist?: Forgery) => {
    const answer = key.create(await creationOptions(context, user), twist)
    await addKey(context, { user, name: 'blue', answer })
    return answer
  }
  /**
   * Starts a sign-in after the password; returns the options for a key and a check of its answer.
   */
  const halfSignIn = async (user: User) => {
    const ticketHash = hashToken(newToken())
    const expiresAtMs = Date.now() + 60_000
    await openTicket(context.db, { hash: ticketHash, userId: user.id, tries: 5, expiresAtMs })
    const options = (await requestOptions(context, user, ticketHash)) ?? {}
    const judge = (answer: string) => verifyKey(context, { user, answer, ticketHash, address })
    return { options, judge }
  }
  return { context, fixture, ada, bob, add, halfSignIn }
}

t.test('a key is added with a current answer for our origin, once', async (t) => {
  const { context, ada, bob, add } = await openFixture(t)
  const key = aSecurityKey()
  const statement = Buffer.from('a163783563814101', 'hex')
  for (const twist of [
    { origin: 'https://code.example.org' },
    { origin: 'http://code.example.com:81' },
    { host: 'example.com' },
    { challenge: Buffer.alloc(32).toString('base64url') },
    { type: 'webauthn.get' },
    { isPresent: false },
  ]) {
    await t.rejects(add(ada, key, twist), NO_ANSWER, JSON.stringify(twist))
  }
  for (const attestation of [
    { format: 'packed', statement },
    { format: 'fido-u2f', statement },
    { format: 'android-safetynet', statement: Buffer.from([0xa0]) },
  ]) {
    await t.rejects(
      add(ada, key, { attestation }),
      { message: /it is attested/ },
      'the registration is refused',
    )
  }
  for (const answer of ['', 'null', '{}', '[]', '{"response":{}}', 'x'.repeat(20_000)]) {
    await t.rejects(addKey(context, { user: ada, name: 'k', answer }), NO_ANSWER)
  }
  const answer = await add(ada, key)
  await t.rejects(addKey(context, { user: ada, name: 'again', answer }), NO_ANSWER)
  await t.rejects(add(bob, key), { message: /registered already/ })
  const others = aSecurityKey().create(await creationOptions(context, bob))
  await t.rejects(addKey(context, { user: ada, name: 'k', answer: others }), NO_ANSWER)
  t.equal((await listSecurityKeys(context.db, ada.id)).length, 1)
  await add(bob, aSecurityKey(), { isSelfSigned: true })
  t.match(await creationOptions(context, ada), { excludeCredentials: [{ id: key.id }] })
})

t.test('a sign-in accepts only an answer of its account to its own challenge', async (t) => {
  const { fixture, ada, bob, add, halfSignIn } = await openFixture(t)
  const [key, other] = [aSecurityKey(), aSecurityKey()]
  t.strictSame((await halfSignIn(ada)).options, {}, 'no options without keys')
  await add(ada, key)
  await add(bob, other)
  const { options, judge } = await halfSignIn(ada)
  t.match(options, { rpId: 'code.example.com', allowCredentials: [{ id: key.id }] })
  for (const twist of [
    { origin: 'https://code.example.org' },
    { host: 'example.org' },
    { challenge: Buffer.alloc(32).toString('base64url') },
    { type: 'webauthn.create' },
    { isPresent: false },
  ]) {
    const { options, judge } = await halfSignIn(ada)
    await t.rejects(judge(key.get(options, twist)), WRONG, JSON.stringify(twist))
    await fixture.db('security_key_challenges').delete()
  }
  await t.rejects((await halfSignIn(ada)).judge(key.get(options)), WRONG, 'of another sign-in')
  const asked = (await halfSignIn(ada)).options
  await t.rejects(judge(key.get(asked)), WRONG, 'the challenge of another sign-in')
  const bobs = await halfSignIn(ada)
  await t.rejects(bobs.judge(other.get(bobs.options)), WRONG, 'the key of another account')
  const forged = await halfSignIn(ada)
  await t.rejects(forged.judge(other.get(forged.options, { id: key.id })), WRONG, 'forged')
})

t.test('a challenge is used once, and the signature counter must grow', async (t) => {
  const { context, fixture, ada, add, halfSignIn } = await openFixture(t)
  const key = aSecurityKey()
  await add(ada, key, { counter: 4 })
  const first = await halfSignIn(ada)
  const answers = Array.from({ length: 5 }, () => key.get(first.options))
  const judged = await Promise.allSettled(answers.map(first.judge))
  t.equal(
    judged.filter(({ status }) => status === 'fulfilled').length,
    1,
    'one of five concurrent answers',
  )
  for (const counter of [3, 4, 0]) {
    const { options, judge } = await halfSignIn(ada)
    await t.rejects(judge(key.get(options, { counter })), WRONG, String(counter))
  }
  t.equal(fixture.lines.filter(({ event }) => event === 'security-key-copied').length, 3)
  t.match(
    fixture.lines.findLast(({ event }) => event === 'sign-in-failed'),
    {
      level: 40,
      name: 'ada',
      address,
      reason: 'its signature counter did not increase',
    },
  )
  const { options, judge } = await halfSignIn(ada)
  await judge(key.get(options, { counter: 100 }))
  await switchOff(context, ada)
  t.strictSame(await listSecurityKeys(context.db, ada.id), [], 'keys are deleted with the factor')
})

t.test('answers of keys are limited like codes', async (t) => {
  const { ada, add, halfSignIn } = await openFixture(t)
  const key = aSecurityKey()
  await add(ada, key)
  const { judge, options } = await halfSignIn(ada)
  const judged = await Promise.allSettled(Array.from({ length: 30 }, () => judge('{}')))
  const names = judged.map((outcome) => outcome.status === 'rejected' && outcome.reason.failure)
  t.equal(names.filter((name) => name === 'bad_credentials').length, 10)
  t.equal(names.filter((name) => name === 'throttled').length, 20)
  await t.rejects(judge(key.get(options)), { message: /^Too many failed/ })
})

t.test('a key needs a name and a second factor, and an account has at most twenty', async (t) => {
  const { context, fixture, ada, add } = await openFixture(t)
  for (const name of ['', 'x'.repeat(101)]) {
    await t.rejects(refuseKeyName(context.db, ada, name), { message: /^Name the key/ })
  }
  const carol = await fixture.addUser('carol')
  await t.rejects(add(carol, aSecurityKey()), { message: /^Set up a second factor first/ })
  for (let n = 0; n < 20; n += 1) await add(ada, aSecurityKey())
  await t.rejects(add(ada, aSecurityKey()), { message: /has at most 20 keys/ })
})
