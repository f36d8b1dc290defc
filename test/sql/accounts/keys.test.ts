/** SSH keys of users: each key has one owner and is found by its fingerprint. */

import { t } from 'tap'
import {
  addUserKey,
  allKeys,
  findKeyByFingerprint,
  findUserKey,
  listUserKeys,
  removeUserKey,
  touchKey,
} from '../../../sql/accounts/keys.js'
import { deleteUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { isMysql, selectRows } from '../../../sql/database/dialect.js'
import { addDeployKey } from '../../../sql/repositories/deploy-keys.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aKey } from '../../helpers/ssh-keys.js'
import { isFullSize } from '../../helpers/test-size.js'

const PAGE = { page: 1, limit: 50 }
const TAKEN = { failure: 'invalid', message: 'Key content has been used as non-deploy key' }
const TITLE_TAKEN = { failure: 'invalid', message: 'Key title has been used' }

await forEachMigrated(
  t,
  'a key is added, found, listed, marked as used and removed',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const key = aKey('ada of home')
    const added = await addUserKey(db, { userId: ada.id, title: 'home', key })
    t.match(added, { userId: ada.id, title: 'home', key, lastUsedAtMs: undefined })
    t.strictSame(await findUserKey(db, ada.id, added.id), added)
    t.strictSame(await listUserKeys(db, ada.id, { page: PAGE }), { entries: [added], total: 1 })
    const known = await findKeyByFingerprint(db, key.fingerprint)
    t.strictSame(known, { id: added.id, user: ada, lastUsedAtMs: undefined })
    await touchKey(db, added.id, 1_700_000_000_000)
    t.match(await findUserKey(db, ada.id, added.id), { lastUsedAtMs: 1_700_000_000_000 })
    t.match(await findKeyByFingerprint(db, key.fingerprint), { lastUsedAtMs: 1_700_000_000_000 })
    t.equal(await removeUserKey(db, ada.id, added.id), true)
    t.equal(await removeUserKey(db, ada.id, added.id), false)
    t.equal(await findUserKey(db, ada.id, added.id), undefined)
    t.equal(await findKeyByFingerprint(db, key.fingerprint), undefined)
  },
)

await forEachMigrated(t, 'keys are listed by page and by fingerprint', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const keys = [aKey(), aKey(), aKey()]
  for (const [n, key] of keys.entries()) {
    await addUserKey(db, { userId: ada.id, title: `${n}`, key })
  }
  const titles = async (question: Parameters<typeof listUserKeys>[2], userId = ada.id) => {
    const { entries, total } = await listUserKeys(db, userId, question)
    return [entries.map(({ title }) => title).join(), total]
  }
  t.strictSame(await titles({ page: { page: 1, limit: 2 } }), ['0,1', 3])
  t.strictSame(await titles({ page: { page: 2, limit: 2 } }), ['2', 3])
  const { fingerprint = '' } = keys[1] ?? {}
  t.strictSame(await titles({ page: PAGE, fingerprint }), ['1', 1])
  t.strictSame(await titles({ page: PAGE, fingerprint: fingerprint.toLowerCase() }), ['', 0])
  t.strictSame(await titles({ page: PAGE, fingerprint: '' }), ['', 0])
  t.strictSame(await titles({ page: PAGE, fingerprint }, bob.id), ['', 0])
})

await forEachMigrated(
  t,
  'a key belongs to one user, whatever its title and comment',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const bob = await aUser(db, 'bob')
    const key = aKey('one')
    const { id } = await addUserKey(db, { userId: ada.id, title: 'home', key })
    const again = { ...key, comment: 'another' }
    for (const userId of [ada.id, bob.id]) {
      await t.rejects(addUserKey(db, { userId, title: 'x', key: again }), TAKEN)
    }
    await t.rejects(addUserKey(db, { userId: ada.id, title: 'home', key: aKey() }), TITLE_TAKEN)
    await t.rejects(
      addUserKey(db, { userId: ada.id, title: 'home', key }),
      TAKEN,
      'the key before the title',
    )
    await addUserKey(db, { userId: bob.id, title: 'home', key: aKey() })
    await addUserKey(db, { userId: ada.id, title: 'HOME', key: aKey() })
    t.equal(await findUserKey(db, bob.id, id), undefined)
    t.equal(await removeUserKey(db, bob.id, id), false)
    t.match(await findKeyByFingerprint(db, key.fingerprint), { user: { name: 'ada' } })
  },
)

await forEachMigrated(t, 'deleting a user deletes their keys and no others', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const [adas, bobs] = [aKey(), aKey()]
  await addUserKey(db, { userId: ada.id, title: 'k', key: adas })
  await addUserKey(db, { userId: bob.id, title: 'k', key: bobs })
  await deleteUser(db, ada.id)
  t.equal(await findKeyByFingerprint(db, adas.fingerprint), undefined)
  t.match(await findKeyByFingerprint(db, bobs.fingerprint), { user: { name: 'bob' } })
  await addUserKey(db, { userId: bob.id, title: 'inherited', key: adas })
  const late = addUserKey(db, { userId: ada.id, title: 'k', key: aKey() })
  await t.rejects(late, { failure: 'not_found', message: 'user does not exist' })
})

await forEachMigrated(t, 'of many concurrent additions of one key one succeeds', async (t, db) => {
  const key = aKey()
  const users = await Promise.all(Array.from({ length: 6 }, (_, n) => aUser(db, `user${n}`)))
  const repository = await aRepository(db, users[0]?.id ?? 0, 'engine')
  const outcomes = await Promise.allSettled([
    ...users.map(({ id }) => addUserKey(db, { userId: id, title: 'k', key })),
    addDeployKey(db, { repositoryId: repository.id, title: 'k', mode: 'read', key }),
  ])
  const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []))
  t.equal(lost.length, users.length)
  for (const failure of lost) t.match(failure, TAKEN)
  t.equal((await db('ssh_keys')).length, 1)
})

await forEachMigrated(t, 'a key is found by its exact fingerprint only', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const key = aKey()
  await addUserKey(db, { userId: ada.id, title: 'k', key })
  const { fingerprint } = key
  const others = [
    '',
    '0',
    'SHA256:',
    "' or 1=1 -- ",
    fingerprint.slice(0, -1),
    `${fingerprint}=`,
    `${fingerprint} `,
    `${fingerprint}\0`,
    fingerprint.slice(7),
    fingerprint.toUpperCase(),
  ]
  for (const other of others) t.equal(await findKeyByFingerprint(db, other), undefined)
  await t.rejects(findKeyByFingerprint(db, 0 as unknown as string), TypeError)
})

/** Returns the query plan of the first query that `ask` sends. */
async function planOf(db: Database, ask: (trx: Database) => Promise<unknown>): Promise<unknown[]> {
  return await db.transaction(async (trx) => {
    const asked: { sql: string; bindings: string[] }[] = []
    const note = (query: { sql: string; bindings: string[] }) => asked.push(query)
    trx.on('query', note)
    await ask(trx)
    trx.removeListener('query', note)
    const [{ sql, bindings } = { sql: '', bindings: [] }] = asked
    const explain = isMysql(db) ? 'explain' : 'explain query plan'
    return [...(await selectRows(trx, `${explain} ${sql}`, bindings))]
  })
}

/** Number of keys: several times those of a query that lists all. */
const MANY = isFullSize ? 100_000 : 5_000

await forEachMigrated(t, `a key among ${MANY} is found by an index`, async (t, db) => {
  const ada = await aUser(db, 'ada')
  const rows = Array.from({ length: MANY }, (_, n) => ({
    fingerprint: `SHA256:${String(n).padStart(43, '0')}`,
    algorithm: 'ssh-ed25519',
    base64: 'A'.repeat(68),
    user_id: ada.id,
    title: `${n}`,
    comment: '',
    created_at: 1,
    last_used_at: null,
  }))
  await db.batchInsert('ssh_keys', rows, 250)
  const seen = new Set<string>()
  for await (const key of allKeys(db)) seen.add(key.fingerprint)
  t.equal(seen.size, rows.length, 'all keys can be listed')
  const { fingerprint = '' } = rows[MANY - 777] ?? {}
  t.match(await findKeyByFingerprint(db, fingerprint), { user: { name: 'ada' } })
  const plan = await planOf(db, (trx) => findKeyByFingerprint(trx, fingerprint))
  const step = isMysql(db)
    ? { table: 'k', type: 'const', key: 'ssh_keys_fingerprint', rows: 1 }
    : { detail: /^SEARCH k USING INDEX \w+ \(fingerprint=\?\)$/ }
  t.match(plan[0], step)
})
