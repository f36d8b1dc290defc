/** One-time codes, recovery codes and sign-in attempts are each counted once under concurrency. */

import { t } from 'tap'
import {
  acceptRecoveryCode,
  acceptStep,
  closeTicket,
  enrolSecondFactor,
  findSecondFactor,
  findTicketUser,
  offerSecondFactor,
  openTicket,
  removeExpiredTickets,
  removeSecondFactor,
  replaceRecoveryCodes,
  takeTicketTry,
} from '../../../sql/accounts/second-factors.js'
import { createSession, findSessionWithUser } from '../../../sql/accounts/sessions.js'
import { updateUser } from '../../../sql/accounts/user-changes.js'
import { deleteUser, setPassword, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

const HOUR_MS = 3_600_000
const hash = (digit: string) => digit.repeat(64)

async function enrolled(db: Database, user: User) {
  await offerSecondFactor(db, user.id, 'sealed')
  await enrolSecondFactor(db, user.id, {
    secretSealed: 'sealed',
    step: 10,
    codeHashes: [hash('a'), hash('b')],
  })
}

/** Returns how many of twenty concurrent calls succeed. */
async function ofTwenty(ask: () => Promise<unknown>): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  return answers.filter((answer) => answer !== false && answer !== undefined).length
}

await forEachMigrated(
  t,
  'a second factor is enrolled with a code of its secret and ends other sessions',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const session = { userId: ada.id, hash: hash('5'), address: '192.0.2.1', agent: 'Browser/1' }
    await createSession(db, { ...session, expiresAtMs: Date.now() + HOUR_MS })
    t.equal(await findSecondFactor(db, ada.id), undefined)
    await offerSecondFactor(db, ada.id, 'first')
    await offerSecondFactor(db, ada.id, 'sealed')
    t.match(await findSecondFactor(db, ada.id), { secretSealed: 'sealed', enrolledAtMs: undefined })
    t.equal(await acceptStep(db, ada.id, 10), false, 'the factor is not enrolled yet')
    const enrolment = { step: 10, codeHashes: [hash('a'), hash('b')] }
    const enrol = (secretSealed: string) =>
      enrolSecondFactor(db, ada.id, { secretSealed, ...enrolment })
    t.equal(await enrol('first'), false, 'a newer secret has replaced this one')
    t.ok(await findSessionWithUser(db, hash('5')))
    t.equal(await ofTwenty(() => enrol('sealed')), 1)
    t.equal(await findSessionWithUser(db, hash('5')), undefined)
    const factor = await findSecondFactor(db, ada.id)
    t.equal(factor?.recoveryCodesLeft, 2)
    t.ok(Date.now() - (factor?.enrolledAtMs ?? 0) < HOUR_MS)
    await t.rejects(offerSecondFactor(db, ada.id, 'other'), {
      message: /already: disable it first/,
    })
    t.equal(await removeSecondFactor(db, ada.id), true)
    t.equal(await removeSecondFactor(db, ada.id), false)
    t.equal(
      await acceptRecoveryCode(db, ada.id, hash('a')),
      false,
      'recovery codes are deleted with the factor',
    )
  },
)

await forEachMigrated(
  t,
  'a time step and a recovery code are accepted once and for their user only',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    await enrolled(db, ada)
    for (const past of [9, 10]) t.equal(await acceptStep(db, ada.id, past), false, String(past))
    t.equal(await ofTwenty(() => acceptStep(db, ada.id, 12)), 1)
    t.equal(await acceptStep(db, ada.id, 11), false, 'a step before an accepted one is refused')
    t.equal(await acceptStep(db, bob.id, 13), false)
    t.equal(await acceptRecoveryCode(db, bob.id, hash('a')), false)
    t.equal(await ofTwenty(() => acceptRecoveryCode(db, ada.id, hash('a'))), 1)
    await replaceRecoveryCodes(db, ada.id, [hash('c')])
    t.equal(await acceptRecoveryCode(db, ada.id, hash('b')), false)
    t.equal(await acceptRecoveryCode(db, ada.id, hash('c')), true)
    await deleteUser(db, ada.id)
    t.equal(await findSecondFactor(db, ada.id), undefined)
  },
)

await forEachMigrated(
  t,
  'a sign-in ticket is limited by attempts, time and the password',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const open = (digit: string, lifeMs = HOUR_MS) =>
      openTicket(db, {
        userId: ada.id,
        hash: hash(digit),
        tries: 3,
        expiresAtMs: Date.now() + lifeMs,
      })
    await open('1')
    t.match(await findTicketUser(db, hash('1')), ada)
    t.equal(await findTicketUser(db, hash('2')), undefined)
    t.equal(await ofTwenty(() => takeTicketTry(db, hash('1'))), 3)
    t.equal(await findTicketUser(db, hash('1')), undefined)
    await open('2', -1)
    t.equal(await findTicketUser(db, hash('2')), undefined)
    t.equal(await takeTicketTry(db, hash('2')), undefined)
    t.equal(await removeExpiredTickets(db, Date.now()), 1)
    for (const end of [
      () => closeTicket(db, hash('3')),
      () => setPassword(db, ada.id, 'another'),
      () => updateUser(db, ada.id, { passwordHash: 'a third' }),
    ]) {
      await open('3')
      t.match(await takeTicketTry(db, hash('3')), ada)
      await end()
      t.equal(await takeTicketTry(db, hash('3')), undefined)
    }
  },
)
