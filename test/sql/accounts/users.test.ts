/** Users are found by their name in any case, and by nothing that only resembles it. */

import { t } from 'tap'
import { findOwner } from '../../../sql/accounts/owners.js'
import { createToken, findTokenWithUser } from '../../../sql/accounts/tokens.js'
import {
  createUser,
  deleteUser,
  findPassword,
  findUser,
  listUsers,
  recordSignIn,
  setPassword,
} from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { anOrganization, aRepository, aUser } from '../../helpers/rows.js'

const TOKEN_HASH = 'a'.repeat(64)

await forEachMigrated(
  t,
  'a user is created, found in any case, and has all fields',
  async (t, db) => {
    const beforeMs = Date.now()
    const ada = await createUser(db, {
      name: 'Ada',
      email: 'Ada@Example.test',
      passwordHash: 'hash',
      isAdmin: true,
      fullName: 'Ada Lovelace',
    })
    t.match(ada, {
      kind: 'user',
      name: 'Ada',
      fullName: 'Ada Lovelace',
      email: 'Ada@Example.test',
      visibility: 'public',
      isAdmin: true,
      isActive: true,
      isLoginProhibited: false,
      lastLoginAtMs: undefined,
    })
    t.type(ada.id, 'number')
    t.ok(ada.createdAtMs >= beforeMs && ada.createdAtMs <= Date.now())
    for (const name of ['Ada', 'ada', 'ADA']) t.strictSame(await findUser(db, name), ada)
    const { email, isAdmin, isActive, isLoginProhibited, language, lastLoginAtMs, ...owner } = ada
    t.strictSame(await findOwner(db, 'aDA'), owner)
  },
)

await forEachMigrated(t, 'names that only look alike are different users', async (t, db) => {
  await aUser(db, 'admin')
  await aUser(db, 'kay')
  const others = ['admin ', ' admin', 'ADMIN ', 'ÀDMIN', 'àdmin', 'admin\u0000', 'a%', '_dmin', '']
  for (const name of [...others, '\u212aay']) {
    t.equal(await findUser(db, name), undefined, JSON.stringify(name))
    t.equal(await findOwner(db, name), undefined, JSON.stringify(name))
    t.equal(await findPassword(db, name), undefined, JSON.stringify(name))
  }
})

await forEachMigrated(
  t,
  'a lookup by a value that is not a string finds no user',
  async (t, db) => {
    await aUser(db, 'ada')
    for (const value of [{ name: 1 }, ['ada'], [0], 0, 1, true, false, null, undefined]) {
      for (const find of [findUser, findOwner, findPassword]) {
        await t.rejects(async () => void (await find(db, value as never)), TypeError)
      }
    }
    for (const value of [{ id: 1 }, ['x'], { toString: () => 'x' }, new Date(0), undefined]) {
      await t.rejects(setPassword(db, 1, value as never), TypeError)
      await t.rejects(db('users').where('owner_id', value as never))
      await t.rejects(db.raw('select * from users where owner_id = ?', [value as never]))
    }
    t.equal((await findPassword(db, 'ada'))?.passwordHash, 'hash of ada')
  },
)

await forEachMigrated(t, 'users and organizations share one namespace', async (t, db) => {
  const ada = await aUser(db, 'Ada')
  await anOrganization(db, 'Engines', ada.id)
  for (const name of ['aDA', 'ENGINES']) {
    const taken = { failure: 'conflict', message: `The name ${name} is already taken.` }
    await t.rejects(aUser(db, name), taken)
    await t.rejects(anOrganization(db, name, ada.id), taken)
  }
  t.equal((await listUsers(db, { page: 1, limit: 10 })).total, 1)
})

await forEachMigrated(t, 'an address belongs to one user, whatever its case', async (t, db) => {
  const user = { passwordHash: undefined, isAdmin: false }
  await createUser(db, { ...user, name: 'ada', email: 'a@example.test' })
  await t.rejects(createUser(db, { ...user, name: 'bob', email: 'A@EXAMPLE.test' }), {
    failure: 'conflict',
    message: 'The e-mail address A@EXAMPLE.test is already used.',
  })
  t.equal(await findOwner(db, 'bob'), undefined, 'the name is available again')
})

await forEachMigrated(
  t,
  'of twenty concurrent creations of one name one succeeds',
  async (t, db) => {
    const names = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'Same' : 'sAME'))
    const inputs = names.map((name, index) =>
      createUser(db, {
        name,
        email: `user${index}@example.test`,
        passwordHash: undefined,
        isAdmin: false,
      }),
    )
    const results = await Promise.allSettled(inputs)
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') t.match(result.reason, { failure: 'conflict' })
    }
    t.equal((await listUsers(db, { page: 1, limit: 50 })).total, 1)
  },
)

await forEachMigrated(
  t,
  'a password is found by name and by verified address, and replaced',
  async (t, db) => {
    const ada = await aUser(db, 'Ada')
    await aUser(db, 'bob')
    t.strictSame(await findPassword(db, 'ADA'), { user: ada, passwordHash: 'hash of Ada' })
    t.strictSame(await findPassword(db, 'ADA@example.TEST'), {
      user: ada,
      passwordHash: 'hash of Ada',
    })
    await setPassword(db, ada.id, 'another')
    t.equal((await findPassword(db, 'ada'))?.passwordHash, 'another')
    t.equal((await findPassword(db, 'bob'))?.passwordHash, 'hash of bob')
    await db('emails').where({ user_id: ada.id }).update({ is_verified: false })
    t.equal(await findPassword(db, 'ada@example.test'), undefined, 'not by an unverified address')
  },
)

await forEachMigrated(t, 'a user without a password has none', async (t, db) => {
  await createUser(db, {
    name: 'key',
    email: 'k@example.test',
    passwordHash: undefined,
    isAdmin: false,
  })
  t.match(await findPassword(db, 'key'), { passwordHash: undefined })
})

await forEachMigrated(t, 'the time of a sign-in is stored in milliseconds', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await recordSignIn(db, ada.id, 1_790_000_000_123)
  t.equal((await findUser(db, 'ada'))?.lastLoginAtMs, 1_790_000_000_123)
})

await forEachMigrated(t, 'users are listed by pages in order of creation', async (t, db) => {
  for (const name of ['cid', 'ada', 'bob']) await aUser(db, name)
  await anOrganization(db, 'org', (await findUser(db, 'ada'))?.id ?? 0)
  t.match(await listUsers(db, { page: 1, limit: 2 }), {
    entries: [{ name: 'cid' }, { name: 'ada' }],
    total: 3,
  })
  t.match(await listUsers(db, { page: 2, limit: 2 }), { entries: [{ name: 'bob' }], total: 3 })
  t.strictSame(await listUsers(db, { page: 3, limit: 2 }), { entries: [], total: 3 })
})

await forEachMigrated(
  t,
  'deleting a user deletes tokens, and is refused while there are repositories',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const repository = await aRepository(db, ada.id, 'engine')
    await aToken(db, ada.id)
    await t.rejects(deleteUser(db, ada.id), {
      failure: 'conflict',
      message: 'The user still owns repositories or packages.',
    })
    t.ok(await findTokenWithUser(db, TOKEN_HASH), 'nothing was deleted')
    await db('repositories').where({ id: repository.id }).delete()
    t.equal(await deleteUser(db, ada.id), true)
    t.equal(await deleteUser(db, ada.id), false)
    t.equal(await findTokenWithUser(db, TOKEN_HASH), undefined)
    t.equal(await findUser(db, 'ada'), undefined)
    const again = await aUser(db, 'ada')
    t.ok(again.id > ada.id, 'the name can be used again and the id is new')
  },
)

await forEachMigrated(t, 'an organization is not deleted as a user', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const organization = await anOrganization(db, 'org', ada.id)
  t.equal(await deleteUser(db, organization.id), false)
  t.ok(await findOwner(db, 'org'))
})

async function aToken(db: Database, userId: number): Promise<void> {
  await createToken(db, {
    userId,
    name: 'laptop',
    hash: TOKEN_HASH,
    lastEight: '12345678',
    scopes: [],
  })
}
