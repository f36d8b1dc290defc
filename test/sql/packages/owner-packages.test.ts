/** Packages of an owner in all formats. */

import { t } from 'tap'
import { listOwnerPackages } from '../../../sql/packages/owner-packages.js'
import { linkPackage } from '../../../sql/packages/package-links.js'
import { removeVersion } from '../../../sql/packages/publications.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'packages are found by format, name and repository', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const ownerId = ada.id
  for (const [format, packageName, version] of [
    ['generic', 'Tool', '1.0'],
    ['go', 'code.example.com/toolbox', 'v1.0.0'],
    ['generic', 'other', '1'],
    ['generic', 'gone', '1'],
    ['generic', 'Tool', '1.1'],
  ] as const) {
    await aPublication(db, { ownerId, format, packageName, version })
  }
  await aPublication(db, { ownerId: bob.id, packageName: 'tool' })
  await removeVersion(db, namespaceOf(ownerId), { packageName: 'gone', version: '1' })
  const repository = await aRepository(db, ada.id, 'engine')
  const link = { packageName: 'other', repositoryId: repository.id }
  await linkPackage(db, namespaceOf(ownerId), link)

  const names = async (search: object, page = { page: 1, limit: 10 }) => {
    const { entries, total } = await listOwnerPackages(db, { ownerId, ...search }, page)
    return [...entries.map(({ name, version }) => `${name} ${version}`), total]
  }
  const all = ['Tool 1.1', 'other 1', 'code.example.com/toolbox v1.0.0']
  // Changes of the same millisecond are ordered by id.
  const sorted = (list: readonly unknown[]) => [...list].map(String).sort()
  t.strictSame(sorted(await names({})), sorted([...all, 3]))
  t.strictSame(sorted(await names({ text: 'TOOL' })), sorted([all[0], all[2], 2]))
  t.strictSame(await names({ text: 'tool', format: 'go' }), [all[2], 1])
  t.strictSame(await names({ repositoryId: repository.id }), [all[1], 1])
  t.strictSame(await names({ text: '%' }), [0])
  t.strictSame(await names({ format: 'generic' }, { page: 2, limit: 2 }), [2])
})
