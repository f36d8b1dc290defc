/** Runners and their registration tokens, on both databases. */

import t from 'tap'
import { closeDatabase, openDatabase } from '../../../sql/database/database.js'
import {
  createRegistrationToken,
  findRunner,
  listRunners,
  registerRunner,
  removeRunner,
  updateRunner,
} from '../../../sql/runners/runners.js'
import { forEachDatabase } from '../../helpers/databases.js'

const [KNOWN, ENDED, ONCE] = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
const SITE = { ownerId: undefined, repositoryId: undefined }
const FIELDS = { name: 'r', tokenHash: '0'.repeat(64), labels: ['linux'], version: 'v1' }

await forEachDatabase(t, 'a runner registers with a token that is valid', async (t, location) => {
  const db = await openDatabase({ location, connectionsMax: 4 })
  t.teardown(() => closeDatabase(db))
  const register = (registrationHash = '') =>
    registerRunner(db, { ...FIELDS, isEphemeral: false, registrationHash })
  const token = { ...SITE, isOnce: false, expiresAtMs: undefined }
  await createRegistrationToken(db, { ...token, hash: KNOWN ?? '' })
  await createRegistrationToken(db, { ...token, hash: ENDED ?? '', expiresAtMs: Date.now() - 1 })
  await createRegistrationToken(db, { ...token, hash: ONCE ?? '', isOnce: true })
  const first = await register(KNOWN)
  t.match(first, { name: 'r', labels: ['linux'], isEphemeral: false, lastSeenAtMs: undefined })
  t.ok(await register(KNOWN), 'again with the same token')
  t.equal(await register(ENDED), undefined, 'not with an expired one')
  t.equal(await register('d'.repeat(64)), undefined, 'not with an unknown one')
  const once = await Promise.all(Array.from({ length: 5 }, () => register(ONCE)))
  t.equal(once.filter((runner) => runner !== undefined).length, 1, 'once with one for one use')
  t.equal((await listRunners(db)).length, 3)

  const { id = 0, uuid = '' } = first ?? {}
  await updateRunner(db, id, { labels: ['a', 'b'], lastSeenAtMs: 7 })
  t.match(await findRunner(db, uuid), { labels: ['a', 'b'], version: 'v1', lastSeenAtMs: 7 })
  t.equal(await removeRunner(db, uuid), true)
  t.equal(await removeRunner(db, uuid), false)
  t.equal(await findRunner(db, uuid), undefined)
})
