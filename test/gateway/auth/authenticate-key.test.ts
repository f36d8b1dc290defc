/** Authentication with SSH keys: of users, and of deploy keys. */

import t from 'tap'
import { authenticateKey, recordKeyUse } from '../../../gateway/auth/authenticate-key.js'
import { addUserKey, findKeyByFingerprint, touchKey } from '../../../sql/accounts/keys.js'
import { deleteUser } from '../../../sql/accounts/users.js'
import { addDeployKey } from '../../../sql/repositories/deploy-keys.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'
import { aKey } from '../../helpers/ssh-keys.js'

t.test('a key authenticates its user until the key or the user is deleted', async (t) => {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const key = aKey()
  const { fingerprint } = key
  t.equal(await authenticateKey(db, fingerprint), undefined)
  const { id: keyId } = await addUserKey(db, { userId: ada.id, title: 'k', key })
  t.strictSame(await authenticateKey(db, fingerprint), {
    who: { kind: 'user', user: ada, by: 'ssh-key', scopes: undefined },
    fingerprint,
    keyId,
    name: 'ada',
    lastUsedAtMs: undefined,
  })
  t.match(
    await findKeyByFingerprint(db, fingerprint),
    { lastUsedAtMs: undefined },
    'the use is not recorded',
  )
  await deleteUser(db, ada.id)
  t.equal(await authenticateKey(db, fingerprint), undefined)
})

t.test('a user who may not sign in is refused with their key', async (t) => {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const key = aKey()
  await addUserKey(db, { userId: ada.id, title: 'k', key })
  const set = (columns: object) => db('users').where({ owner_id: ada.id }).update(columns)
  await set({ is_active: false })
  t.equal(await authenticateKey(db, key.fingerprint), undefined)
  await set({ is_active: true, is_login_prohibited: true })
  t.equal(await authenticateKey(db, key.fingerprint), undefined)
  await set({ is_login_prohibited: false })
  t.match(await authenticateKey(db, key.fingerprint), { name: 'ada' })
})

t.test('a deploy key is not a user', async (t) => {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const key = aKey()
  const { keyId } = await addDeployKey(db, { repositoryId, title: 'ci', mode: 'write', key })
  t.strictSame(await authenticateKey(db, key.fingerprint), {
    who: { kind: 'deploy-key', keyId },
    fingerprint: key.fingerprint,
    keyId,
    name: 'deploy key',
    lastUsedAtMs: undefined,
  })
})

t.test('the use of a key is recorded, but not again shortly after', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const key = aKey()
  const { id } = await addUserKey(db, { userId: ada.id, title: 'k', key })
  /** Returns the recorded time after a use of the key whose last use was at that time. */
  const notedAfter = async (lastUsedAtMs: number) => {
    await touchKey(db, id, lastUsedAtMs)
    const holder = await authenticateKey(db, key.fingerprint)
    if (holder === undefined) throw new Error('the key is not known')
    recordKeyUse(context, holder)
    // SQLite's single write connection executes writes in order.
    const { last_used_at } = await db('ssh_keys').where({ id }).first('last_used_at')
    return last_used_at
  }
  t.ok(Math.abs(Date.now() - (await notedAfter(1))) < 600_000)
  const future = Date.now() + 3_600_000
  t.equal(await notedAfter(future), future)
})
