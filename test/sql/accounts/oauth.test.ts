/** OAuth applications and grants: a code and a refresh token are used once. */

import { t } from 'tap'
import {
  createApplication,
  deleteApplication,
  findApplication,
  findClient,
  listApplications,
  updateApplication,
} from '../../../sql/accounts/oauth-applications.js'
import {
  createGrant,
  endGrants,
  hasGrant,
  listPermissions,
  removeExpiredGrants,
  touchGrant,
} from '../../../sql/accounts/oauth-grants.js'
import {
  findAccess,
  findCode,
  findRefresh,
  spendCode,
  spendRefresh,
} from '../../../sql/accounts/oauth-tokens.js'
import { deleteUser, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

const HOUR_MS = 3_600_000
const FIELDS = {
  name: 'Wood',
  redirectUris: ['https://ci.example/authorize', 'https://ci.example/b'],
  isConfidential: true,
  skipsSecondConsent: false,
  secretHash: 'f'.repeat(64),
}

const anApplication = (db: Database, { id: ownerId }: User, clientId = 'one') =>
  createApplication(db, { ownerId, clientId, ...FIELDS })

const terms = (user: User, applicationId: number) => ({
  userId: user.id,
  applicationId,
  scopes: ['read:user'],
  openidScopes: ['openid', 'email'],
})

async function aGrant(
  db: Database,
  user: User,
  { applicationId = 1, digit = 'a', lifeMs = 9_000 },
) {
  await createGrant(db, {
    ...terms(user, applicationId),
    nonce: 'n',
    code: {
      hash: digit.repeat(64),
      expiresAtMs: Date.now() + lifeMs,
      redirectUri: 'https://ci.example/b',
      challenge: 'c'.repeat(43),
    },
  })
  return (await findCode(db, digit.repeat(64)))?.grant.id ?? 0
}

const pair = (digit: string, lifeMs = HOUR_MS) => ({
  accessHash: `a${digit}`.repeat(32),
  accessExpiresAtMs: Date.now() + lifeMs,
  refreshHash: `b${digit}`.repeat(32),
  refreshExpiresAtMs: Date.now() + 2 * lifeMs,
})

const access = (db: Database, digit: string) => findAccess(db, `a${digit}`.repeat(32))
const refresh = (db: Database, digit: string) => findRefresh(db, `b${digit}`.repeat(32))

await forEachMigrated(t, 'an application is created, changed and deleted', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const made = await anApplication(db, ada)
  const place = { ownerId: ada.id, id: made.id }
  t.strictSame(await findApplication(db, ada.id, made.id), made)
  t.equal(await findApplication(db, bob.id, made.id), undefined)
  const found = await findClient(db, 'one')
  t.match(found, { application: made, secretHash: 'f'.repeat(64), ownerName: 'ada' })
  t.equal(await findClient(db, 'ONE'), undefined)
  const fields = { ...FIELDS, name: 'Ci', isConfidential: false, secretHash: undefined }
  t.equal(await updateApplication(db, { ...place, ownerId: bob.id }, fields), false)
  t.equal(await updateApplication(db, place, fields), true)
  t.match(await findClient(db, 'one'), { application: { name: 'Ci' }, secretHash: undefined })
  await anApplication(db, ada, 'two')
  const page = await listApplications(db, ada.id, { page: 2, limit: 1 })
  t.match(page, { total: 2, entries: [{ clientId: 'two', redirectUris: FIELDS.redirectUris }] })
  t.equal(await deleteApplication(db, { ...place, ownerId: bob.id }), false)
  t.equal(await deleteApplication(db, place), true)
  t.equal(await findClient(db, 'one'), undefined)
  const tea = await findClient(db, 'd57cb8c4-630c-4168-8324-ec79935e18d4')
  t.match(tea, { application: { name: 'tea', ownerId: undefined, isConfidential: false } })
  t.same(tea?.application.redirectUris, ['http://127.0.0.1', 'https://127.0.0.1'])
})

await forEachMigrated(
  t,
  'a code is used once, and a second use revokes the grant',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id: applicationId } = await anApplication(db, ada)
    t.equal(await hasGrant(db, terms(ada, applicationId)), false)
    const id = await aGrant(db, ada, { applicationId })
    t.equal(await hasGrant(db, terms(ada, applicationId)), true)
    t.equal(await hasGrant(db, { ...terms(ada, applicationId), scopes: ['all'] }), false)
    t.match(await findCode(db, 'a'.repeat(64)), { isUsed: false, redirectUri: /b$/ })
    const tries = await Promise.all(['1', '2', '3'].map((digit) => spendCode(db, id, pair(digit))))
    t.equal(tries.filter(Boolean).length, 1, 'one of the concurrent uses succeeds')
    for (const digit of ['1', '2', '3'])
      t.equal(await access(db, digit), undefined, 'the grant is revoked')
    t.equal(await findCode(db, 'a'.repeat(64)), undefined)
  },
)

await forEachMigrated(t, 'a refresh token is used once, like a code', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id: applicationId } = await anApplication(db, ada)
  const id = await aGrant(db, ada, { applicationId })
  t.equal(await spendCode(db, id, pair('1')), true)
  t.match(await access(db, '1'), { grant: { id, user: ada, nonce: 'n', scopes: ['read:user'] } })
  t.equal(await access(db, '9'), undefined)
  const first = await refresh(db, '1')
  if (first === undefined) throw new Error('there is no refresh token')
  t.equal(await spendRefresh(db, first, pair('2')), true)
  t.ok(await access(db, '1'), 'the current access token remains valid')
  const other = await aGrant(db, ada, { applicationId, digit: 'e' })
  t.equal(await spendCode(db, other, pair('4')), true)
  t.equal(await spendRefresh(db, first, pair('3')), false)
  for (const digit of ['1', '2', '3']) t.equal(await access(db, digit), undefined, digit)
  t.equal(await refresh(db, '2'), undefined)
  t.ok(await access(db, '4'), 'another grant remains valid')
})

await forEachMigrated(
  t,
  'grants are listed, and deleted with their application and user',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const [one, two] = [await anApplication(db, bob), await anApplication(db, bob, 'two')]
    const grants = [
      await aGrant(db, ada, { applicationId: one.id, digit: 'a' }),
      await aGrant(db, ada, { applicationId: one.id, digit: 'b' }),
      await aGrant(db, ada, { applicationId: two.id, digit: 'c' }),
      await aGrant(db, bob, { applicationId: one.id, digit: 'd' }),
    ]
    for (const [at, id] of grants.entries()) await spendCode(db, id, pair(String(at)))
    await touchGrant(db, grants[1] ?? 0, 9_000_000_000_000)
    const listed = await listPermissions(db, ada.id)
    t.match(listed, [{ application: one, lastUsedAtMs: 9_000_000_000_000 }, { application: two }])
    t.equal(listed.length, 2)
    t.equal(await endGrants(db, { userId: ada.id, applicationId: one.id }), true)
    t.equal(await endGrants(db, { userId: ada.id, applicationId: one.id }), false)
    t.equal(await access(db, '0'), undefined)
    t.ok(await access(db, '3'), 'a grant of another user')
    await deleteApplication(db, { ownerId: bob.id, id: two.id })
    t.equal(await access(db, '2'), undefined)
    await deleteUser(db, bob.id)
    t.equal(await access(db, '3'), undefined)
  },
)

await forEachMigrated(
  t,
  'expired codes and tokens are not found and are removed',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id: applicationId } = await anApplication(db, ada)
    const id = await aGrant(db, ada, { applicationId, lifeMs: -5 })
    const young = await aGrant(db, ada, { applicationId, digit: 'b' })
    const live = await aGrant(db, ada, { applicationId, digit: 'c', lifeMs: -5 })
    await spendCode(db, id, pair('1', -HOUR_MS))
    await spendCode(db, live, pair('2'))
    t.equal(await access(db, '1'), undefined)
    t.equal(await removeExpiredGrants(db, Date.now()), 1)
    t.equal(await refresh(db, '1'), undefined)
    t.ok(await access(db, '2'))
    t.equal((await findCode(db, 'b'.repeat(64)))?.grant.id, young)
  },
)
