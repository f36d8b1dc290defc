/** Objects of Git LFS belong to repositories, share blobs, and are limited in size; locks. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { deleteUnusedBlob, listUnusedBlobs } from '../../../sql/packages/blobs.js'
import { setOwnQuota, UNLIMITED } from '../../../sql/packages/owner-settings.js'
import { createFork } from '../../../sql/repositories/forks.js'
import { addLfsLock, listLfsLocks } from '../../../sql/repositories/lfs-locks.js'
import {
  addLfsObject,
  copyNamedLfsObjects,
  findLfsObject,
  hasLfsObjects,
  listLfsSizes,
} from '../../../sql/repositories/lfs-objects.js'
import { sumLfsBytes } from '../../../sql/repositories/lfs-quota.js'
import {
  deleteLfsObjects,
  listOldLfsOids,
  renewLfsObjects,
} from '../../../sql/repositories/lfs-removal.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aBlobOf } from '../../helpers/release-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const oidOf = (text: string) => aBlobOf(text).digests.sha256

async function twoRepositories(db: Database) {
  const ada = await aUser(db, 'ada')
  const one = await aRepository(db, ada.id, 'one')
  const two = await aRepository(db, ada.id, 'two')
  const add = (
    { id: repositoryId }: { readonly id: number },
    text: string,
    { key = `key of ${text}`, ownerBytesMax = undefined as number | undefined } = {},
  ) =>
    addLfsObject(
      db,
      { repositoryId, oid: oidOf(text) },
      { blob: aBlobOf(text, key), limits: { ownerBytesMax } },
    )
  return { ada, one, two, add }
}

await forEachMigrated(t, 'an object belongs to the repositories that got it', async (t, db) => {
  const { one, two, add } = await twoRepositories(db)
  t.strictSame(await add(one, 'same'), { blobKey: 'key of same' })
  const oid = oidOf('same')
  t.match(await findLfsObject(db, { repositoryId: one.id, oid }), { bytes: 4 })
  t.equal(await findLfsObject(db, { repositoryId: two.id, oid }), undefined)
  t.strictSame(await add(one, 'same', { key: 'other' }), { blobKey: 'key of same' })
  t.strictSame(await add(two, 'same', { key: 'other' }), { blobKey: 'key of same' })
  const known = await listLfsSizes(db, two.id, [oid, oidOf('missing')])
  t.strictSame([...known], [[oid, 4]])
  t.strictSame([...(await listLfsSizes(db, two.id, []))], [])
})

await forEachMigrated(t, 'a repository gets the named objects of another', async (t, db) => {
  const { one, two, add } = await twoRepositories(db)
  t.equal(await hasLfsObjects(db, one.id), false)
  for (const text of ['a', 'b', 'c']) await add(one, text)
  await add(two, 'a')
  t.equal(await hasLfsObjects(db, one.id), true)
  const oids = ['a', 'b', 'missing', ...Array.from({ length: 500 }, (_, at) => `${at}`), 'c']
  const names = { fromId: one.id, toId: two.id, oids: oids.map(oidOf) }
  // Two gateways may copy the same objects concurrently.
  await Promise.all([copyNamedLfsObjects(db, names), copyNamedLfsObjects(db, names)])
  await copyNamedLfsObjects(db, names)
  const known = await listLfsSizes(db, two.id, ['a', 'b', 'c', 'missing'].map(oidOf))
  t.strictSame(new Set(known.keys()), new Set(['a', 'b', 'c'].map(oidOf)))
})

await forEachMigrated(t, 'a blob is kept while a repository has its object', async (t, db) => {
  const { ada, one, add } = await twoRepositories(db)
  await add(one, 'kept')
  const fork = { ...one, ownerId: ada.id, name: 'fork', storage: 'f'.repeat(32) }
  const child = await createFork(db, { ...fork, watcherId: undefined }, one.id)
  t.ok(await findLfsObject(db, { repositoryId: child.id, oid: oidOf('kept') }))
  const unused = () => listUnusedBlobs(db, { afterId: 0, limit: 9 })
  await deleteRepository(db, one.id)
  t.strictSame(await unused(), [])
  const row = await db('blobs').first('id')
  t.equal(await deleteUnusedBlob(db, row.id), false, 'the foreign key refuses it too')
  await deleteRepository(db, child.id)
  t.equal((await unused()).length, 1)
  t.equal(await deleteUnusedBlob(db, row.id), true)
})

await forEachMigrated(t, 'the size of the objects of an owner is limited', async (t, db) => {
  const { ada, one, two, add } = await twoRepositories(db)
  const limit = { ownerBytesMax: 8 }
  await add(one, '12345', limit)
  const isBeyond = { failure: 'insufficient_storage', message: /the quota of 8 bytes/ }
  await t.rejects(add(two, '1234', limit), isBeyond)
  await add(two, '123', limit)
  await add(one, '12345', limit)
  const bob = await aUser(db, 'bob')
  const other = await aRepository(db, bob.id, 'other')
  await add(other, '1234', limit)
  await setOwnQuota(db, ada.id, { lfsBytesMax: 9 })
  await setOwnQuota(db, bob.id, { lfsBytesMax: UNLIMITED })
  await add(two, '9', limit)
  await t.rejects(add(two, '0', limit), { message: /the quota of 9 bytes/ })
  await add(other, '123456789', limit)
  t.equal(await sumLfsBytes(db, ada.id), 9)
})

await forEachMigrated(t, 'an object that is renewed meanwhile is not deleted', async (t, db) => {
  const { one, two, add } = await twoRepositories(db)
  for (const text of ['a', 'b', 'c']) await add(one, text)
  await add(two, 'a')
  const oids = ['a', 'b'].map(oidOf).sort()
  await db('lfs_objects').whereIn('oid', oids).update({ created_at: 5 })
  const page = { repositoryId: one.id, beforeMs: 6, limit: 9 }
  t.strictSame(await listOldLfsOids(db, { ...page, afterOid: '' }), oids)
  t.strictSame(await listOldLfsOids(db, { ...page, afterOid: oids[0] ?? '' }), oids.slice(1))
  const sizes = await renewLfsObjects(db, one.id, ['a', 'missing'].map(oidOf))
  t.strictSame([...sizes], [[oidOf('a'), 1]])
  t.equal(await deleteLfsObjects(db, page, ['a', 'b', 'c'].map(oidOf)), 1)
  t.strictSame([...(await listLfsSizes(db, one.id, oids)).keys()], [oidOf('a')])
  await copyNamedLfsObjects(db, { fromId: one.id, toId: two.id, oids })
  t.strictSame(await listOldLfsOids(db, { ...page, repositoryId: two.id, afterOid: '' }), [])
})

await forEachMigrated(t, 'a path has one lock, also if it is locked twice', async (t, db) => {
  const { ada, one, two } = await twoRepositories(db)
  const bob = await aUser(db, 'bob')
  const path = 'a/Ü file'
  const lock = (repositoryId: number, userId: number) =>
    addLfsLock(db, { repositoryId, path, userId })
  t.match(await lock(one.id, ada.id), { isNew: true, lock: { path, userName: 'ada' } })
  t.match(await lock(one.id, bob.id), { isNew: false, lock: { userName: 'ada' } })
  t.match(await lock(two.id, bob.id), { isNew: true, lock: { userName: 'bob' } })
  await addLfsLock(db, { repositoryId: one.id, path: 'A/Ü file', userId: bob.id })
  const all = { afterId: 0, limit: 9 }
  const paths = (await listLfsLocks(db, one.id, all)).map((found) => found.path)
  t.strictSame(paths, [path, 'A/Ü file'], 'paths differ by case')
})
