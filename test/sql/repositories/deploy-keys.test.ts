/** Deploy keys: one key for several repositories, with its own mode in each. */

import { t } from 'tap'
import { addUserKey, findKeyByFingerprint } from '../../../sql/accounts/keys.js'
import type { Database } from '../../../sql/database/database.js'
import {
  addDeployKey,
  deployKeyAccess,
  findDeployKey,
  listDeployKeys,
  removeDeployKey,
} from '../../../sql/repositories/deploy-keys.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aKey } from '../../helpers/ssh-keys.js'

const PAGE = { page: 1, limit: 50 }
const TAKEN = { failure: 'invalid', message: 'Key content has been used as non-deploy key' }
const THERE = { failure: 'invalid', message: 'This key has already been added to this repository' }
const TITLE_TAKEN = { failure: 'invalid', message: 'A key with the same name already exists' }

async function twoRepositories(db: Database) {
  const ada = await aUser(db, 'ada')
  const engine = await aRepository(db, ada.id, 'engine')
  const notes = await aRepository(db, ada.id, 'notes', { isPrivate: true })
  const add = (repositoryId: number, key = aKey(), title = 'ci', mode: 'read' | 'write' = 'read') =>
    addDeployKey(db, { repositoryId, title, mode, key })
  return { ada, engine, notes, add }
}

await forEachMigrated(t, 'a deploy key has its own mode in each repository', async (t, db) => {
  const { engine, notes, add } = await twoRepositories(db)
  const key = aKey('ci of engine')
  const first = await add(engine.id, key)
  t.match(first, { repositoryId: engine.id, title: 'ci', mode: 'read', key })
  const elsewhere = { ...key, comment: 'ci of notes' }
  const second = await add(notes.id, elsewhere, 'robot', 'write')
  t.equal(second.keyId, first.keyId)
  t.not(second.id, first.id)
  t.strictSame(await findDeployKey(db, engine.id, first.id), first)
  t.strictSame(await findDeployKey(db, notes.id, second.id), second, 'with its own comment')
  t.equal(await findDeployKey(db, engine.id, second.id), undefined)
  t.equal(await deployKeyAccess(db, first.keyId, engine.id), 'read')
  t.equal(await deployKeyAccess(db, first.keyId, notes.id), 'write')
  t.equal(await deployKeyAccess(db, first.keyId, notes.id + 1), 'none')
  t.equal(await deployKeyAccess(db, first.keyId + 1, engine.id), 'none')
  t.match(await findKeyByFingerprint(db, key.fingerprint), { id: first.keyId, user: undefined })
})

await forEachMigrated(t, 'deploy keys are listed by page, key and fingerprint', async (t, db) => {
  const { engine, notes, add } = await twoRepositories(db)
  const keys = [aKey(), aKey(), aKey()]
  const added = []
  for (const [n, key] of keys.entries()) added.push(await add(engine.id, key, `${n}`))
  await add(notes.id, keys[0])
  const titles = async (question: Parameters<typeof listDeployKeys>[2]) => {
    const { entries, total } = await listDeployKeys(db, engine.id, question)
    return [entries.map(({ title }) => title).join(), total]
  }
  t.strictSame(await titles({ page: PAGE }), ['0,1,2', 3])
  t.strictSame(await titles({ page: { page: 2, limit: 2 } }), ['2', 3])
  const fingerprint = keys[1]?.fingerprint
  const keyId = added[2]?.keyId
  t.strictSame(await titles({ page: PAGE, fingerprint }), ['1', 1])
  t.strictSame(await titles({ page: PAGE, keyId }), ['2', 1])
  t.strictSame(await titles({ page: PAGE, keyId, fingerprint }), ['', 0])
  t.match(await listDeployKeys(db, engine.id, { page: PAGE }), { entries: added })
})

await forEachMigrated(t, "a key is either a user's or a deploy key", async (t, db) => {
  const { ada, engine, notes, add } = await twoRepositories(db)
  const [own, shared] = [aKey(), aKey()]
  await addUserKey(db, { userId: ada.id, title: 'k', key: own })
  await t.rejects(add(engine.id, own), TAKEN)
  await add(engine.id, shared)
  await t.rejects(addUserKey(db, { userId: ada.id, title: 'x', key: shared }), TAKEN)
  await t.rejects(add(engine.id, shared, 'another'), THERE)
  await t.rejects(add(engine.id, shared), THERE, 'the key before the title')
  await t.rejects(add(engine.id), TITLE_TAKEN)
  await add(notes.id, shared)
  t.equal((await db('ssh_keys')).length, 2, 'no row of the refused key is kept')
  const gone = { failure: 'not_found', message: 'The repository does not exist.' }
  await t.rejects(add(notes.id + 1), gone)
})

await forEachMigrated(
  t,
  'a key is deleted with the last repository that uses it',
  async (t, db) => {
    const { ada, engine, notes, add } = await twoRepositories(db)
    const key = aKey()
    const first = await add(engine.id, key)
    const second = await add(notes.id, key)
    t.equal(await removeDeployKey(db, notes.id, first.id), false, 'through another repository')
    t.equal(await removeDeployKey(db, engine.id, first.id), true)
    t.equal(await removeDeployKey(db, engine.id, first.id), false)
    t.equal(await deployKeyAccess(db, first.keyId, engine.id), 'none')
    t.equal(await deployKeyAccess(db, first.keyId, notes.id), 'read')
    t.equal(await removeDeployKey(db, notes.id, second.id), true)
    t.equal(await findKeyByFingerprint(db, key.fingerprint), undefined)
    await addUserKey(db, { userId: ada.id, title: 'now a person’s', key })
  },
)

await forEachMigrated(t, 'deleting a repository deletes its deploy keys', async (t, db) => {
  const { ada, engine, notes, add } = await twoRepositories(db)
  const [alone, shared, own] = [aKey(), aKey(), aKey()]
  await addUserKey(db, { userId: ada.id, title: 'k', key: own })
  await add(engine.id, alone, 'alone')
  await add(engine.id, shared, 'shared')
  const { keyId } = await add(notes.id, shared)
  t.equal(await deleteRepository(db, engine.id), true)
  t.equal(await deleteRepository(db, engine.id), false)
  t.equal(await findKeyByFingerprint(db, alone.fingerprint), undefined)
  t.match(await findKeyByFingerprint(db, shared.fingerprint), { id: keyId })
  t.match(await findKeyByFingerprint(db, own.fingerprint), { user: { name: 'ada' } })
  t.equal(await deployKeyAccess(db, keyId, notes.id), 'read')
  const next = await aRepository(db, ada.id, 'engine')
  t.equal(await deployKeyAccess(db, keyId, next.id), 'none', 'a new repository of the same name')
})

await forEachMigrated(
  t,
  'of many concurrent additions of a deploy key to one repository one succeeds',
  async (t, db) => {
    const { engine, add } = await twoRepositories(db)
    const key = aKey()
    const titles = Array.from({ length: 6 }, (_, n) => `${n}`)
    const outcomes = await Promise.allSettled(titles.map((title) => add(engine.id, key, title)))
    const lost = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? outcome.reason : [],
    )
    t.equal(lost.length, titles.length - 1)
    for (const failure of lost) t.match(failure, THERE)
  },
)

await forEachMigrated(
  t,
  'a key is added to and removed from many repositories concurrently',
  async (t, db) => {
    const { ada } = await twoRepositories(db)
    const key = aKey()
    const repositories = []
    for (let n = 0; n < 6; n += 1) repositories.push(await aRepository(db, ada.id, `r${n}`))
    const added = await Promise.all(
      repositories.map(({ id }) =>
        addDeployKey(db, { repositoryId: id, title: 'ci', mode: 'read', key }),
      ),
    )
    t.equal(new Set(added.map(({ keyId }) => keyId)).size, 1)
    // Keys are removed and added concurrently: no added deploy key may lose its key.
    const other = await aRepository(db, ada.id, 'other')
    const [late] = await Promise.all([
      addDeployKey(db, { repositoryId: other.id, title: 'ci', mode: 'write', key }),
      ...added.map(({ repositoryId, id }, n) =>
        n % 2 === 0 ? removeDeployKey(db, repositoryId, id) : deleteRepository(db, repositoryId),
      ),
    ])
    t.match(await findKeyByFingerprint(db, key.fingerprint), { id: late.keyId })
    t.equal(await deployKeyAccess(db, late.keyId, other.id), 'write')
    t.equal((await db('deploy_keys')).length, 1)
  },
)

await forEachMigrated(
  t,
  'a deploy key added while its repository is deleted leaves no key',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    for (let n = 0; n < 12; n += 1) {
      const { id } = await aRepository(db, ada.id, `r${n}`)
      const add = () =>
        addDeployKey(db, { repositoryId: id, title: 'ci', mode: 'read', key: aKey() })
      const remove = () => deleteRepository(db, id)
      const [first, second] = n % 2 === 0 ? [add(), remove()] : [remove(), add()]
      for (const outcome of await Promise.allSettled([first, second])) {
        if (outcome.status === 'fulfilled') continue
        t.match(outcome.reason, { failure: 'not_found' }, 'the repository was deleted before')
      }
    }
    t.strictSame(await db('ssh_keys'), [])
    t.strictSame(await db('deploy_keys'), [])
  },
)
