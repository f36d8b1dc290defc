/** Expired sessions and sign-ins are deleted. */

import t from 'tap'
import { SWEEP_SESSIONS } from '../../../gateway/jobs/sweep-sessions.js'
import { openTicket } from '../../../sql/accounts/second-factors.js'
import { keepChallenge } from '../../../sql/accounts/security-keys.js'
import { createSession } from '../../../sql/accounts/sessions.js'
import { openContext } from '../../helpers/gateway.js'

const HOUR_MS = 3_600_000

t.test('sessions and sign-ins are deleted after they have expired', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const made = [
    { userId: ada.id, hash: 'a'.repeat(64), expiresAtMs: Date.now() - HOUR_MS },
    { userId: bob.id, hash: 'b'.repeat(64), expiresAtMs: Date.now() + HOUR_MS },
  ]
  for (const { userId, hash, expiresAtMs } of made) {
    await createSession(db, { userId, hash, expiresAtMs, address: '192.0.2.1', agent: '' })
    await openTicket(db, { userId, hash, expiresAtMs, tries: 3 })
    await keepChallenge(db, { userId, hash, ticketHash: undefined }, expiresAtMs)
  }
  await SWEEP_SESSIONS.run(context, 'all', new AbortController().signal)
  for (const table of ['sessions', 'sign_in_tickets', 'security_key_challenges']) {
    t.strictSame(await db(table).pluck('user_id'), [bob.id], table)
  }
})
