/** Sessions are found by their hash until they expire or are ended. */

import { t } from 'tap'
import {
  createSession,
  deleteOtherSessions,
  deleteSession,
  findSessionWithUser,
  listSessions,
  removeExpiredSessions,
  touchSession,
} from '../../../sql/accounts/sessions.js'
import { deleteUser, setPassword, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

const HOUR_MS = 3_600_000

async function aSession(db: Database, user: User, digit: string, lifeMs = HOUR_MS) {
  await createSession(db, {
    userId: user.id,
    hash: digit.repeat(64),
    address: '192.0.2.1',
    agent: 'Browser/1',
    expiresAtMs: Date.now() + lifeMs,
  })
}

await forEachMigrated(t, 'a session is found by its exact hash, with its user', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await aSession(db, ada, 'a')
  const found = await findSessionWithUser(db, 'a'.repeat(64))
  t.match(found, { user: ada, session: { userId: ada.id, address: '192.0.2.1' } })
  for (const hash of ['', 'A'.repeat(64), 'b'.repeat(64), `${'a'.repeat(64)} `]) {
    t.equal(await findSessionWithUser(db, hash), undefined, hash)
  }
  await touchSession(db, found?.session.id ?? 0, 5)
  const again = await findSessionWithUser(db, 'a'.repeat(64))
  t.match(again?.session, { lastUsedAtMs: 5, agent: 'Browser/1' })
})

await forEachMigrated(t, 'an expired session is not found', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await aSession(db, ada, 'a', -1)
  await aSession(db, ada, 'b')
  t.equal(await findSessionWithUser(db, 'a'.repeat(64)), undefined)
  t.ok(await findSessionWithUser(db, 'b'.repeat(64)))
  t.equal(await removeExpiredSessions(db, Date.now()), 1)
  t.equal(await removeExpiredSessions(db, Date.now()), 0)
})

await forEachMigrated(
  t,
  'sessions end one by one, all together, and with their user',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (const digit of ['a', 'b', 'c']) await aSession(db, ada, digit)
    await aSession(db, bob, 'd')
    const found = async (digit: string) =>
      (await findSessionWithUser(db, digit.repeat(64)))?.session
    const young = await found('c')
    t.equal(await deleteSession(db, bob.id, young?.id ?? 0), false, 'a session of another user')
    t.equal(await deleteSession(db, ada.id, young?.id ?? 0), true)
    t.equal(await found('c'), undefined)
    await setPassword(db, ada.id, 'a hash')
    t.equal(await found('a'), undefined, 'a new password ends all sessions')
    t.ok(await found('d'))
    await deleteUser(db, bob.id)
    t.equal(await found('d'), undefined)
  },
)

await forEachMigrated(
  t,
  'a user lists their sessions and ends all but the current one',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (const digit of ['a', 'b', 'c']) await aSession(db, ada, digit)
    await aSession(db, ada, 'e', -1)
    await aSession(db, bob, 'd')
    const first = (await findSessionWithUser(db, 'a'.repeat(64)))?.session
    await touchSession(db, first?.id ?? 0, Date.now() + 1_000)
    const { entries, total } = await listSessions(db, ada.id, { page: 1, limit: 2 })
    t.equal(total, 3, 'without the expired one')
    t.equal(entries[0]?.id, first?.id, 'the session used last')
    t.equal((await listSessions(db, ada.id, { page: 2, limit: 2 })).entries.length, 1)
    t.equal(await deleteOtherSessions(db, ada.id, first?.id ?? 0), 3)
    const left = await listSessions(db, ada.id, { page: 1, limit: 2 })
    t.strictSame(
      left.entries.map(({ id }) => id),
      [first?.id],
    )
    t.equal((await listSessions(db, bob.id, { page: 1, limit: 2 })).total, 1)
  },
)
