/** Security keys: each belongs to one account, and counters and challenges are used once. */

import { t } from 'tap'
import {
  closeTicket,
  enrolSecondFactor,
  offerSecondFactor,
  openTicket,
  removeSecondFactor,
} from '../../../sql/accounts/second-factors.js'
import {
  acceptSignature,
  addSecurityKey,
  deleteSecurityKey,
  findSecurityKey,
  keepChallenge,
  listSecurityKeys,
  removeExpiredChallenges,
  takeChallenge,
} from '../../../sql/accounts/security-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

const hash = (digit: string) => digit.repeat(64)
const LATER_MS = 3_600_000

async function enrolled(db: Database, user: User) {
  await offerSecondFactor(db, user.id, 'sealed')
  await enrolSecondFactor(db, user.id, { secretSealed: 'sealed', step: 1, codeHashes: [hash('a')] })
}

/** Returns how many of twenty concurrent calls succeed. */
async function ofTwenty(ask: () => Promise<boolean>): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  return answers.filter(Boolean).length
}

await forEachMigrated(
  t,
  'a security key belongs to one account, which has a second factor',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const key = { name: 'blue', credentialId: 'Qk'.repeat(682), publicKey: 'pk', signCounter: 0 }
    const add = (user: User, change = {}) =>
      addSecurityKey(db, { ...key, userId: user.id, ...change })
    await t.rejects(add(ada), { message: /second factor first/ })
    await enrolled(db, ada)
    await enrolled(db, bob)
    await add(ada)
    await t.rejects(add(bob), { message: /registered already/ })
    await add(bob, { credentialId: key.credentialId.toLowerCase() })
    const [listed] = await listSecurityKeys(db, ada.id)
    t.match(listed, { name: 'blue', credentialId: key.credentialId, lastUsedAtMs: undefined })
    t.ok(Date.now() - (listed?.createdAtMs ?? 0) < LATER_MS)
    const found = await findSecurityKey(db, ada.id, key.credentialId)
    t.match(found, { id: listed?.id, name: 'blue', publicKey: 'pk' })
    t.equal(await findSecurityKey(db, bob.id, key.credentialId), undefined)
    t.equal(await deleteSecurityKey(db, bob.id, listed?.id ?? 0), false)
    t.equal(await deleteSecurityKey(db, ada.id, listed?.id ?? 0), true)
    t.strictSame(await listSecurityKeys(db, ada.id), [])
    await removeSecondFactor(db, bob.id)
    t.strictSame(await listSecurityKeys(db, bob.id), [], 'the key is deleted with the factor')
  },
)

await forEachMigrated(
  t,
  'a signature counter must grow, unless the key always sends zero',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    await enrolled(db, ada)
    const add = async (credentialId: string, signCounter: number) => {
      const key = { userId: ada.id, name: 'k', credentialId, publicKey: 'pk', signCounter }
      await addSecurityKey(db, key)
      return (await findSecurityKey(db, ada.id, credentialId))?.id ?? 0
    }
    const [counting, silent] = [await add('one', 5), await add('two', 0)]
    for (const past of [0, 4, 5]) t.equal(await acceptSignature(db, counting, past), false)
    t.equal(await ofTwenty(() => acceptSignature(db, counting, 7)), 1)
    t.equal(await acceptSignature(db, counting, 6), false)
    for (const n of [1, 2]) t.equal(await acceptSignature(db, silent, 0), true, String(n))
    t.equal(await acceptSignature(db, silent, 1), true)
    t.equal(await acceptSignature(db, silent, 0), false)
    const [used] = await listSecurityKeys(db, ada.id)
    t.ok(Date.now() - (used?.lastUsedAtMs ?? 0) < LATER_MS)
  },
)

await forEachMigrated(
  t,
  'a challenge is used once, before it expires, for its user and ticket',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const later = Date.now() + LATER_MS
    for (const digit of ['1', '2']) {
      await openTicket(db, { hash: hash(digit), userId: ada.id, tries: 3, expiresAtMs: later })
    }
    const enrolment = { hash: hash('a'), userId: ada.id, ticketHash: undefined }
    const signIn = { hash: hash('b'), userId: ada.id, ticketHash: hash('1') }
    await keepChallenge(db, enrolment, later)
    await keepChallenge(db, signIn, later)
    for (const wrong of [
      { ...enrolment, userId: bob.id },
      { ...enrolment, ticketHash: hash('1') },
      { ...enrolment, hash: hash('b') },
      { ...signIn, ticketHash: hash('2') },
      { ...signIn, ticketHash: undefined },
    ]) {
      t.equal(await takeChallenge(db, wrong), false)
    }
    for (const right of [enrolment, signIn]) {
      t.equal(await ofTwenty(() => takeChallenge(db, right)), 1)
    }
    await keepChallenge(db, signIn, later)
    await keepChallenge(db, { ...signIn, hash: hash('c') }, later)
    t.equal(await takeChallenge(db, signIn), false, 'a newer challenge has replaced this one')
    await closeTicket(db, hash('1'))
    t.equal(
      await takeChallenge(db, { ...signIn, hash: hash('c') }),
      false,
      'the challenge is deleted with its ticket',
    )
    await t.rejects(keepChallenge(db, signIn, later), { message: /This sign-in has ended/ })
    await keepChallenge(db, enrolment, Date.now() - 1)
    t.equal(await takeChallenge(db, enrolment), false)
    t.equal(await removeExpiredChallenges(db, Date.now()), 1)
  },
)
