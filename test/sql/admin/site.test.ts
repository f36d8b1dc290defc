/** The first account is created once under concurrency; registration is closed by default. */

import { t } from 'tap'
import { deleteUser, listUsers } from '../../../sql/accounts/users.js'
import {
  addSecretFingerprint,
  createFirstUser,
  findSecretFingerprint,
  hasUsers,
  isRegistrationOpen,
  setRegistration,
} from '../../../sql/admin/site.js'
import { forEachMigrated } from '../../helpers/databases.js'

const ALL = { page: 1, limit: 50 }

function aFirst(name: string) {
  return { name, email: `${name}@example.com`, passwordHash: undefined, isAdmin: true }
}

await forEachMigrated(t, 'of many concurrent first accounts one is created', async (t, db) => {
  t.equal(await hasUsers(db), false)
  const names = ['ada', 'bob', 'cyd', 'dan', 'eve']
  const made = await Promise.all(names.map((name) => createFirstUser(db, aFirst(name))))
  const [first, ...others] = made.filter((user) => user !== undefined)
  t.strictSame(others, [])
  t.strictSame((await listUsers(db, ALL)).entries, [first])
  t.equal(await hasUsers(db), true)
  t.equal(await createFirstUser(db, aFirst('fay')), undefined)
  await deleteUser(db, first?.id ?? 0)
  t.ok(
    await createFirstUser(db, aFirst('fay')),
    'without any account a first one can be created again',
  )
})

await forEachMigrated(
  t,
  'registration is closed until an administrator opens it',
  async (t, db) => {
    t.equal(await isRegistrationOpen(db), false)
    await createFirstUser(db, aFirst('ada'))
    t.equal(await isRegistrationOpen(db), false)
    for (const isOpen of [true, true, false]) {
      await setRegistration(db, isOpen)
      t.equal(await isRegistrationOpen(db), isOpen)
    }
  },
)

await forEachMigrated(t, 'of many concurrent fingerprints one is stored', async (t, db) => {
  t.equal(await findSecretFingerprint(db), undefined)
  await Promise.all(['a', 'b', 'c', 'd'].map((digit) => addSecretFingerprint(db, digit.repeat(64))))
  const stored = await findSecretFingerprint(db)
  t.match(stored, /^([abcd])\1{63}$/)
  await addSecretFingerprint(db, 'e'.repeat(64))
  t.equal(await findSecretFingerprint(db), stored)
})
