/** Versions of an owner over all formats: by page, newest first, with creator and repository. */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import { isMysql } from '../../../sql/database/dialect.js'
import { hasLinkedPackages, linkPackage } from '../../../sql/packages/package-links.js'
import {
  findNewestVersion,
  listOwnerVersions,
  setVersionOwners,
} from '../../../sql/packages/package-lists.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { plansOf } from '../../helpers/query-plans.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 50 }

await forEachMigrated(
  t,
  'a version is listed with its package, creator and repository',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'Ada'), await aUser(db, 'bob')]
    const engine = await aRepository(db, ada.id, 'engine')
    const inputs = { ownerId: ada.id, format: 'composer', packageName: 'Acme/Lib', version: 'V1' }
    await aPublication(db, { ...inputs, creatorId: bob.id, metadata: { large: 'x'.repeat(9_000) } })
    await aPublication(db, { ...inputs, fileName: 'second' })
    const one = await listOwnerVersions(db, { ownerId: ada.id }, PAGE)
    t.equal(one.total, 1, 'one version with several files')
    t.match(one.entries, [
      {
        version: 'V1',
        format: 'composer',
        packageName: 'Acme/Lib',
        repositoryId: undefined,
        creator: { id: bob.id, name: 'bob', kind: 'user', visibility: 'public' },
      },
    ])
    t.type(one.entries[0]?.createdAtMs, 'number')
    const place = { packageName: 'acme/lib', repositoryId: engine.id }
    await linkPackage(db, namespaceOf(ada.id, 'composer'), place)
    await deleteUser(db, bob.id)
    const { entries } = await listOwnerVersions(db, { ownerId: ada.id }, PAGE)
    t.match(entries, [{ repositoryId: engine.id, creator: undefined }])
    t.equal(entries[0]?.creator, undefined, "the creator's account is deleted")
  },
)

await forEachMigrated(
  t,
  'versions are filtered by text and format, newest upload first',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (const [packageName, version] of [
      ['tool', '2'] as const,
      ['a_b', '1'] as const,
      ['axb', '1'] as const,
      ['TOOL', '10'] as const,
      ['100%', '1'] as const,
      ["it's \\", '1'] as const,
    ]) {
      await aPublication(db, { ownerId: ada.id, packageName, version })
    }
    await aPublication(db, { ownerId: ada.id, format: 'go', packageName: 'tool', version: '3' })
    await aPublication(db, { ownerId: bob.id, packageName: 'tool', version: '4' })
    const list = async (search: object, page = PAGE) => {
      const { entries, total } = await listOwnerVersions(db, { ownerId: ada.id, ...search }, page)
      return [entries.map(({ packageName, version }) => `${packageName} ${version}`), total]
    }
    const all = ['tool 3', "it's \\ 1", '100% 1', 'tool 10', 'axb 1', 'a_b 1', 'tool 2']
    t.strictSame(await list({}), [all, 7])
    t.strictSame(await list({ text: '' }), [all, 7])
    t.strictSame(await list({}, { page: 2, limit: 3 }), [['tool 10', 'axb 1', 'a_b 1'], 7])
    t.strictSame(await list({}, { page: 9, limit: 3 }), [[], 7])
    for (const [search, names] of [
      [{ text: 'A_' }, ['a_b 1']] as const,
      [{ text: '%' }, ['100% 1']] as const,
      [{ text: "'S \\" }, ["it's \\ 1"]] as const,
      [{ text: 'ü' }, []] as const,
      [{ format: 'go' }, ['tool 3']] as const,
      [{ format: 'Go' }, []] as const,
      [{ packageName: 'Tool' }, ['tool 3', 'tool 10', 'tool 2']] as const,
      [{ packageName: 'too' }, []] as const,
      [{ packageName: 'tool ' }, []] as const,
      [{ format: 'generic', packageName: 'TOOL' }, ['tool 10', 'tool 2']] as const,
      [{ packageName: 'tool', version: '2' }, ['tool 2']] as const,
      [{ ownerId: ada.id + bob.id }, []] as const,
    ]) {
      t.strictSame(await list(search), [names, names.length], JSON.stringify(search))
    }
  },
)

await forEachMigrated(t, 'the latest version is the last that was uploaded', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  for (const version of ['1', '3-RC', '2']) await aPublication(db, { ownerId, version })
  const search = { ownerId, format: 'generic', packageName: 'Tool' }
  t.match(await findNewestVersion(db, search), { version: '2' })
  t.match(await findNewestVersion(db, { ...search, version: '3-rc' }), { version: '3-RC' })
  t.equal(await findNewestVersion(db, { ...search, version: '3' }), undefined)
  t.equal(await findNewestVersion(db, { ...search, version: '' }), undefined)
  t.equal(await findNewestVersion(db, { ...search, packageName: '' }), undefined)
})

await forEachMigrated(
  t,
  'versions that the previous release adds are listed, and the sweep sets their owner',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (const version of ['1', '2', '3']) await aPublication(db, { ownerId: ada.id, version })
    await aPublication(db, { ownerId: ada.id, format: 'go', version: '4' })
    await aPublication(db, { ownerId: bob.id, version: '5' })
    const list = async (format?: string) => {
      const { entries, total } = await listOwnerVersions(db, { ownerId: ada.id, format }, PAGE)
      return [...entries.map(({ version }) => version), total]
    }
    const added = () => db('package_versions').whereNull('owner_id').select('version')
    await db('package_versions')
      .whereIn('version', ['2', '4', '5'])
      .update({ owner_id: null, format: null })
    for (const left of [3, 0]) {
      t.equal((await added()).length, left)
      t.strictSame(await list(), ['4', '3', '2', '1', 4])
      t.strictSame(await list('generic'), ['3', '2', '1', 3])
      t.strictSame(await list('go'), ['4', 1])
      await setVersionOwners(db)
    }
  },
)

await forEachMigrated(
  t,
  "a list without names is read from an index in its order, and an owner's links from another",
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    for (let n = 0; n < 20; n += 1) await aPublication(db, { ownerId: ada.id, version: `${n}` })
    const isOrdered = isMysql(db)
      ? /"key":"package_versions_by_owner"[^}]*Using index/
      : /SEARCH v USING COVERING INDEX package_versions_by_owner \(owner_id=\?\)/
    for (const search of [{}, { format: 'generic' }]) {
      const ask = (trx: typeof db) => listOwnerVersions(trx, { ownerId: ada.id, ...search }, PAGE)
      const plans = JSON.parse(await plansOf(db, ask)).map((plan: object) => JSON.stringify(plan))
      const [, count, entries] = plans
      for (const plan of [count, entries]) t.match(plan, isOrdered)
    }
    const linked = await plansOf(db, (trx) => hasLinkedPackages(trx, ada))
    t.match(linked, isMysql(db) ? /"key":"packages_linked"/ : /packages_linked \(owner_id=\? AND/)
  },
)

await forEachMigrated(
  t,
  'a search that matches over 1,000 versions lists the same as one with fewer matches',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (const [ownerId, packageName] of [
      [ada.id, 'tool'] as const,
      [bob.id, 'tool'] as const,
      [ada.id, 'other'] as const,
    ]) {
      await aPublication(db, { ownerId, packageName })
    }
    const [row] = await db('package_versions').orderBy('id')
    const { id, ...columns } = row
    const copies = Array.from({ length: 1_000 }, (_, n) => {
      return { ...columns, version: `${n}`, version_lower: `${n}` }
    })
    for (let at = 0; at < 1_000; at += 200) {
      await db('package_versions').insert(copies.slice(at, at + 200))
    }
    const search = { ownerId: ada.id, text: 'OO' }
    const { entries, total } = await listOwnerVersions(db, search, { page: 1, limit: 2 })
    t.strictSame([entries.map(({ version }) => version), total], [['999', '998'], 1_001])
    const last = await listOwnerVersions(db, search, { page: 501, limit: 2 })
    t.match(last.entries, [{ id, packageName: 'tool', version: '1.0' }])
    const other = await listOwnerVersions(db, { ...search, format: 'go' }, PAGE)
    t.strictSame(other, { entries: [], total: 0 })
  },
)
