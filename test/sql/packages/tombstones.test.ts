/** Deleted files of immutable owners return with the same bytes only, and quotas count versions. */

import t from 'tap'
import { setImmutable, setOwnQuota, UNLIMITED } from '../../../sql/packages/owner-settings.js'
import { removeFile, removePackage, removeVersion } from '../../../sql/packages/publications.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, digestsOf, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

const TOO_MANY = { failure: 'forbidden', message: 'maximum allowed package count exceeded' }
const TOO_MUCH = {
  failure: 'forbidden',
  message: 'maximum allowed package storage quota exceeded',
}

await forEachMigrated(
  t,
  'a deleted file of an immutable owner is published again with the same bytes only',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const place = namespaceOf(ownerId)
    const tool = { packageName: 'TOOL', version: '1.0' }
    const removals = [
      () => removeVersion(db, place, tool),
      () => removeFile(db, place, { ...tool, fileName: 'tool.bin' }),
      () => removePackage(db, place, { packageName: 'tool' }),
    ]
    await setImmutable(db, ownerId, true)
    for (const remove of removals) {
      await aPublication(db, { ownerId, text: 'one' })
      t.equal(await remove(), true)
      const other = { failure: 'conflict', message: new RegExp(digestsOf('one').sha256) }
      await t.rejects(aPublication(db, { ownerId, text: 'two', fileName: 'Tool.BIN' }), other)
    }
    await aPublication(db, { ownerId, text: 'two', fileName: 'other.bin' })
    await aPublication(db, { ownerId, text: 'two', compositeKey: 'amd64' })
    await aPublication(db, { ownerId, text: 'two', version: '2.0' })
    await aPublication(db, { ownerId, text: 'one' })
    t.equal((await db('package_tombstones')).length, 1, 'one tombstone for each place')
  },
)

await forEachMigrated(t, 'only deletions by an immutable owner are recorded', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  await setImmutable(db, bob.id, true)
  const replace = async (ownerId: number, text: string) => {
    await removeVersion(db, namespaceOf(ownerId), { packageName: 'tool', version: '1.0' })
    await aPublication(db, { ownerId, text })
  }
  await replace(ada.id, 'one')
  await replace(ada.id, 'two')
  await setImmutable(db, ada.id, true)
  await t.rejects(replace(ada.id, 'three'), { failure: 'conflict', message: /was deleted/ })
  await setImmutable(db, ada.id, false)
  await replace(ada.id, 'three')
  await setImmutable(db, ada.id, true)
  await t.rejects(
    replace(ada.id, 'two'),
    { failure: 'conflict', message: /was deleted/ },
    'the last bytes count',
  )
  await aPublication(db, { ownerId: ada.id, text: 'three' })
})

await forEachMigrated(t, 'an owner cannot exceed the number of versions', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const quota = { versionsMax: 2, bytesMax: 20 }
  const publish = (version: string, fileName = 'f') =>
    aPublication(db, { ownerId, version, fileName, quota })
  await publish('1')
  await publish('2')
  await publish('2', 'another file of the same version')
  await t.rejects(publish('3'), TOO_MANY)
  await aPublication(db, { ownerId, version: 'of an administrator', text: '' })
  await t.rejects(publish('3'), TOO_MANY)
  await setOwnQuota(db, ownerId, { versionsMax: 4, bytesMax: null })
  await publish('4')
  await t.rejects(publish('5'), TOO_MUCH, 'the quota of the configuration still applies')
  await setOwnQuota(db, ownerId, { bytesMax: UNLIMITED })
  await t.rejects(publish('5'), TOO_MANY)
  await setOwnQuota(db, ownerId, { versionsMax: UNLIMITED, bytesMax: 24 })
  await t.rejects(publish('5'), TOO_MUCH)
  await setOwnQuota(db, ownerId, { versionsMax: null, bytesMax: null })
  await removePackage(db, namespaceOf(ownerId), { packageName: 'tool' })
  await publish('1')
})

await forEachMigrated(
  t,
  'concurrent publications do not exceed the number of versions',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const quota = { versionsMax: 3, bytesMax: undefined }
    const works = Array.from({ length: 10 }, (_, n) =>
      aPublication(db, { ownerId, packageName: `p${n}`, text: `${n}`, quota }),
    )
    const results = await Promise.allSettled(works)
    const lost = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    t.equal(lost.length, 7)
    for (const failure of lost) t.match(failure, TOO_MANY)
  },
)
