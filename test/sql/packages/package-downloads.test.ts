/** Downloads of package versions by day. */

import { t } from 'tap'
import {
  addDailyDownloads,
  DOWNLOAD_DAYS,
  dayOf,
  deleteOldDownloads,
  listDailyDownloads,
} from '../../../sql/packages/package-downloads.js'
import { addDownloads } from '../../../sql/packages/package-files.js'
import { removeVersion } from '../../../sql/packages/publications.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'downloads of all files count for the package by day', async (t, db) => {
  const ada = await aUser(db, 'ada')
  for (const [version, fileName] of [
    ['1.0', 'tool.bin'],
    ['1.0', 'tool.txt'],
    ['2.0', 'tool.bin'],
  ] as const) {
    await aPublication(db, { ownerId: ada.id, version, fileName })
  }
  await aPublication(db, { ownerId: ada.id, packageName: 'other' })
  const files: readonly { id: number }[] = await db('package_files').select('id').orderBy('id')
  const [first = 0, second = 0, third = 0, other = 0] = files.map(({ id }) => id)
  const today = dayOf(Date.now())
  await addDownloads(
    db,
    new Map([
      [first, 2],
      [second, 3],
      [third, 4],
      [other, 9],
    ]),
  )
  await addDownloads(db, new Map([[first, 1]]))
  const { package_id: packageId } = await db('package_versions').first('package_id')
  t.strictSame(await listDailyDownloads(db, packageId, today), [{ day: today, downloads: 10 }])
  t.strictSame(await listDailyDownloads(db, packageId, today + 1), [])

  await removeVersion(db, namespaceOf(ada.id), { packageName: 'tool', version: '1.0' })
  t.strictSame(await listDailyDownloads(db, packageId, today), [{ day: today, downloads: 4 }])
  await addDailyDownloads(db, new Map([[first, 5]]))
  t.strictSame(await listDailyDownloads(db, packageId, today), [{ day: today, downloads: 4 }])
})

await forEachMigrated(t, 'days that are no longer kept are deleted', async (t, db) => {
  const ada = await aUser(db, 'ada')
  await aPublication(db, { ownerId: ada.id })
  const { id } = await db('package_versions').first('id')
  const today = dayOf(Date.now())
  for (const day of [today - DOWNLOAD_DAYS - 1, today - DOWNLOAD_DAYS, today]) {
    await db('package_downloads').insert({ version_id: id, day, downloads: 1 })
  }
  await deleteOldDownloads(db)
  const days: readonly { day: number }[] = await db('package_downloads').orderBy('day')
  t.strictSame(
    days.map(({ day }) => day),
    [today - DOWNLOAD_DAYS, today],
  )
})
