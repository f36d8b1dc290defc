/** Tokens are found by their hash, listed, renewed and revoked. */

import { t } from 'tap'
import {
  createToken,
  deleteToken,
  findTokenWithUser,
  listTokens,
  removeExpiredTokens,
  type Token,
  touchToken,
} from '../../../sql/accounts/tokens.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

/** Creates a token whose hash consists of `digit`. */
async function aToken(db: Database, user: User, name: string, digit: string): Promise<Token> {
  return await createToken(db, {
    userId: user.id,
    name,
    hash: digit.repeat(64),
    lastEight: digit.repeat(8),
    scopes: ['write:repository', 'package'],
  })
}

await forEachMigrated(t, 'a token is found by its hash, with its user', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const laptop = await aToken(db, ada, 'laptop', 'a')
  const phone = await aToken(db, bob, 'phone', 'b')
  t.match(laptop, {
    userId: ada.id,
    name: 'laptop',
    lastEight: 'aaaaaaaa',
    lastUsedAtMs: undefined,
  })
  t.strictSame(await findTokenWithUser(db, 'a'.repeat(64)), { token: laptop, user: ada })
  t.strictSame(await findTokenWithUser(db, 'b'.repeat(64)), { token: phone, user: bob })
})

await forEachMigrated(t, 'a token is found by its exact hash only', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await aToken(db, ada, 'laptop', 'a')
  const near = ['', 'A'.repeat(64), `${'a'.repeat(64)} `, 'a'.repeat(63), '%', '0']
  for (const hash of near) t.equal(await findTokenWithUser(db, hash), undefined, hash)
  for (const hash of [0, false, true, null, undefined, {}, ['a'.repeat(64)], { hash: 1 }]) {
    t.throws(() => findTokenWithUser(db, hash as never), TypeError)
  }
})

await forEachMigrated(t, 'token names are unique per user', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await aToken(db, ada, 'laptop', 'a')
  await t.rejects(aToken(db, ada, 'laptop', 'b'), {
    failure: 'conflict',
    message: 'access token name has been used already',
  })
  await aToken(db, ada, 'Laptop', 'c')
  await aToken(db, await aUser(db, 'bob'), 'laptop', 'd')
  t.equal(await findTokenWithUser(db, 'b'.repeat(64)), undefined)
})

await forEachMigrated(t, 'tokens are listed oldest first, by pages', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const first = await aToken(db, ada, 'z', 'a')
  await aToken(db, await aUser(db, 'bob'), 'other', 'b')
  const second = await aToken(db, ada, 'a', 'c')
  const pages = [1, 2, 3].map((page) => listTokens(db, ada.id, { page, limit: 1 }))
  t.strictSame(await Promise.all(pages), [
    { entries: [first], total: 2 },
    { entries: [second], total: 2 },
    { entries: [], total: 2 },
  ])
})

await forEachMigrated(t, 'a token without scopes has none', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const hash = 'a'.repeat(64)
  await createToken(db, { userId: ada.id, name: 'n', hash, lastEight: 'aaaaaaaa', scopes: [] })
  t.strictSame((await findTokenWithUser(db, hash))?.token.scopes, [])
})

await forEachMigrated(t, 'a token is revoked by its user only', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const token = await aToken(db, ada, 'laptop', 'a')
  t.equal(await deleteToken(db, bob.id, token.id), false)
  t.ok(await findTokenWithUser(db, 'a'.repeat(64)))
  t.equal(await deleteToken(db, ada.id, token.id), true)
  t.equal(await findTokenWithUser(db, 'a'.repeat(64)), undefined)
  t.equal(await deleteToken(db, ada.id, token.id), false)
})

await forEachMigrated(t, 'the last use of a token is stored', async (t, db) => {
  const token = await aToken(db, await aUser(db, 'ada'), 'laptop', 'a')
  await touchToken(db, token.id, 1_790_000_000_123)
  const found = await findTokenWithUser(db, 'a'.repeat(64))
  t.equal(found?.token.lastUsedAtMs, 1_790_000_000_123)
})

await forEachMigrated(
  t,
  'a change of the user is visible with the next token lookup',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    await aToken(db, ada, 'laptop', 'a')
    await db('users').where({ owner_id: ada.id }).update({ is_active: false })
    await db('users').where({ owner_id: ada.id }).update({ is_login_prohibited: true })
    const found = await findTokenWithUser(db, 'a'.repeat(64))
    t.match(found?.user, { isActive: false, isLoginProhibited: true })
    await db('emails').where({ user_id: ada.id }).delete()
    t.equal((await findUser(db, 'ada'))?.email, '', 'a user without an address is still found')
  },
)

await forEachMigrated(
  t,
  'the limits of a token are stored, and never widen if a repository or package is deleted',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id: repositoryId } = await aRepository(db, ada.id, 'r')
    const reach = {
      repositoryIds: [repositoryId],
      packages: [
        { ownerId: ada.id, named: undefined },
        { ownerId: ada.id, named: { format: 'generic', name: 'tool' } },
      ],
    }
    const limits = { expiresAtMs: 5_000_000_000_000, addresses: ['10.0.0.0/8', '::1'], reach }
    const fields = { userId: ada.id, lastEight: 'cccccccc', scopes: ['all'] }
    const made = await createToken(db, { ...fields, name: 'l', hash: 'c'.repeat(64), limits })
    const found = async () => (await findTokenWithUser(db, 'c'.repeat(64)))?.token
    t.strictSame(made.limits, limits)
    t.strictSame(await found(), made)
    t.strictSame((await listTokens(db, ada.id, { page: 1, limit: 9 })).entries, [made])
    await db('repositories').where({ id: repositoryId }).delete()
    t.strictSame((await found())?.limits?.reach, { ...reach, repositoryIds: [] })
    await db('token_packages').delete()
    const nothing = { repositoryIds: [], packages: [] }
    t.strictSame((await found())?.limits?.reach, nothing, 'the token stays limited to nothing')
    t.equal(await removeExpiredTokens(db, 5_000_000_000_000), 0)
    t.equal(await removeExpiredTokens(db, 5_000_000_000_001), 1)
    t.equal(await found(), undefined)
  },
)
