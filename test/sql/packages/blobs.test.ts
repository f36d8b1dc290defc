/** Blobs that no file uses. */

import t from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { deleteUnusedBlob, knownBlobKeys, listUnusedBlobs } from '../../../sql/packages/blobs.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

async function aBlob(db: Database, digit: string): Promise<number> {
  const [id = 0] = await db('blobs').insert({
    sha256: digit.repeat(64),
    sha512: digit.repeat(128),
    storage_key: `key-${digit}`,
    md5: digit.repeat(32),
    sha1: digit.repeat(40),
    bytes: 1,
    created_at: 1,
  })
  return id
}

/** Adds a package file with that blob. */
async function aFile(db: Database, blobId: number): Promise<void> {
  const { id: owner_id } = await aUser(db, 'ada')
  const times = { created_at: 1 }
  const [package_id] = await db('packages').insert({
    owner_id,
    format: 'generic',
    name: 'p',
    name_lower: 'p',
    generation: 1,
    changed_at: 1,
    ...times,
  })
  const version = { version: '1', version_lower: '1', metadata: '{}' }
  const [version_id] = await db('package_versions').insert({ package_id, ...version, ...times })
  const file = { name: 'f', name_lower: 'f', composite_key: '', downloads: 0 }
  await db('package_files').insert({ version_id, blob_id: blobId, ...file, ...times })
}

await forEachMigrated(t, 'unused blobs are listed in order, in pages', async (t, db) => {
  const [used, one, two] = [await aBlob(db, '1'), await aBlob(db, '2'), await aBlob(db, '3')]
  await aFile(db, used)
  t.strictSame(await listUnusedBlobs(db, { afterId: 0, limit: 5 }), [
    { id: one, key: 'key-2' },
    { id: two, key: 'key-3' },
  ])
  const [first] = await listUnusedBlobs(db, { afterId: 0, limit: 1 })
  t.equal(first?.id, one)
  t.strictSame(await listUnusedBlobs(db, { afterId: one, limit: 5 }), [{ id: two, key: 'key-3' }])
})

await forEachMigrated(t, 'a blob that a file uses is not deleted', async (t, db) => {
  const [used, unused] = [await aBlob(db, '1'), await aBlob(db, '2')]
  await aFile(db, used)
  t.equal(await deleteUnusedBlob(db, used), false)
  t.equal(await deleteUnusedBlob(db, unused), true)
  t.equal(await deleteUnusedBlob(db, unused), false, 'a missing blob is not deleted')
  const known = await knownBlobKeys(db, ['key-1', 'key-2', 'key-4'])
  t.strictSame([...known], ['key-1'])
  t.equal((await knownBlobKeys(db, [])).size, 0)
})
