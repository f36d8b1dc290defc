/** Files of packages are found by name in any case, and downloads are counted. */

import { t } from 'tap'
import {
  addDownloads,
  findFile,
  listFirstFileIds,
  type PackageFileName,
} from '../../../sql/packages/package-files.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, digestsOf, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

const TOOL: PackageFileName = { packageName: 'tool', version: '1.0', fileName: 'tool.bin' }

await forEachMigrated(
  t,
  'a file is found by package, version and file name in any case',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const given = { packageName: 'Tool', version: '1.0-RC', fileName: 'Tool.BIN' }
    const key = await aPublication(db, { ownerId: ada.id, ...given, text: 'héllo' })
    const namespace = namespaceOf(ada.id)
    const name = { packageName: 'TOOL', version: '1.0-rc', fileName: 'tool.bin' }
    const found = await findFile(db, namespace, name)
    t.match(found, {
      name: 'Tool.BIN',
      compositeKey: '',
      bytes: 6,
      digests: digestsOf('héllo'),
      blobKey: key,
      downloads: 0,
    })
    const [version] = await db('package_versions')
    t.match(found, { versionId: version.id, packageId: version.package_id })
    t.strictSame(await findFile(db, namespace, given), found)
    for (const changes of [
      { packageName: 'tool ' },
      { packageName: 'too_' },
      { packageName: '' },
      { version: '1.0' },
      { version: '%' },
      { fileName: 'tool.bin\0' },
      { fileName: '' },
      { fileName: 'tool?bin' },
      { compositeKey: 'x' },
    ]) {
      const other = await findFile(db, namespace, { ...name, ...changes })
      t.equal(other, undefined, JSON.stringify(changes))
    }
    t.strictSame(await findFile(db, namespace, { ...name, compositeKey: '' }), found)
    t.equal(await findFile(db, namespaceOf(bob.id), name), undefined)
    t.equal(await findFile(db, namespaceOf(ada.id, 'go'), name), undefined)
    await t.rejects(findFile(db, namespace, { ...name, fileName: 1 as never }), TypeError)
  },
)

await forEachMigrated(
  t,
  'a composite key distinguishes files of one name exactly',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    for (const compositeKey of ['noble|main', 'Noble|main', '']) {
      await aPublication(db, { ownerId, compositeKey, text: compositeKey })
    }
    const at = async (compositeKey: string) =>
      (await findFile(db, namespaceOf(ownerId), { ...TOOL, compositeKey }))?.digests.sha256
    t.equal(await at('noble|main'), digestsOf('noble|main').sha256)
    t.equal(await at('Noble|main'), digestsOf('Noble|main').sha256)
    t.equal(await at(''), digestsOf('').sha256)
    t.equal(await at('NOBLE|main'), undefined)
    t.match(
      await findFile(db, namespaceOf(ownerId), TOOL),
      { compositeKey: 'noble|main' },
      'the oldest',
    )
  },
)

await forEachMigrated(t, 'downloads are counted, also concurrent ones', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  for (const fileName of ['a', 'b', 'c']) await aPublication(db, { ownerId, fileName })
  const idOf = async (fileName: string) =>
    (await findFile(db, namespaceOf(ownerId), { ...TOOL, fileName }))?.id ?? 0
  const [a, b] = [await idOf('a'), await idOf('b')]
  await addDownloads(db, new Map())
  const twice = new Map([
    [a, 2],
    [b, 1],
  ])
  const reversed = new Map([...twice].reverse())
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => addDownloads(db, n % 2 === 0 ? twice : reversed)),
  )
  await addDownloads(db, new Map([[999, 1]]))
  const rows = await db('package_files').orderBy('id').select('name', 'downloads')
  t.match(rows, [
    { name: 'a', downloads: 40 },
    { name: 'b', downloads: 20 },
    { name: 'c', downloads: 0 },
  ])
})

await forEachMigrated(t, 'the first file of each of many versions is found', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const namespace = namespaceOf(ada.id)
  const idOf = async (packageName: string, version: string) =>
    (await findFile(db, namespace, { packageName, version, fileName: 'first' }))?.id
  for (const packageName of ['Tool', 'other']) {
    for (const version of ['1.0-RC', '2.0']) {
      for (const fileName of ['first', 'second']) {
        await aPublication(db, { ownerId: ada.id, packageName, version, fileName })
      }
    }
  }
  await aPublication(db, { ownerId: bob.id, packageName: 'bobs', version: '1.0' })
  const missing = Array.from({ length: 250 }, (_, n) => ({
    packageName: 'tool',
    version: `0.${n}`,
  }))
  const wanted = [
    { packageName: 'tool', version: '1.0-rc' },
    ...missing,
    { packageName: 'other', version: '2.0' },
    { packageName: 'TOOL', version: '1.0-RC' },
    { packageName: 'bobs', version: '1.0' },
  ]
  t.strictSame(await listFirstFileIds(db, namespace, wanted), [
    await idOf('tool', '1.0-RC'),
    await idOf('other', '2.0'),
  ])
  t.strictSame(await listFirstFileIds(db, namespace, []), [])
})
