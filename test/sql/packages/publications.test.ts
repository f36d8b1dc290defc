/** Publishing and deleting are atomic, also concurrently, and equal blobs are shared. */

import { t } from 'tap'
import { deleteUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { isMysql } from '../../../sql/database/dialect.js'
import { findFile } from '../../../sql/packages/package-files.js'
import { linkPackage } from '../../../sql/packages/package-links.js'
import { listFullVersions } from '../../../sql/packages/package-versions.js'
import { findPackage, type PackageNamespace } from '../../../sql/packages/packages.js'
import { removeFile, removePackage, removeVersion } from '../../../sql/packages/publications.js'
import { findReadme } from '../../../sql/packages/readmes.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, digestsOf, namespaceOf } from '../../helpers/package-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const VERSION_EXISTS = { failure: 'conflict', message: 'package version already exists' }
const FILE_EXISTS = { failure: 'conflict', message: 'package file already exists' }
/** Returns a quota of bytes only. */
const bytes = (bytesMax: number | undefined) => ({ bytesMax, versionsMax: undefined })

const TOO_MUCH = {
  failure: 'forbidden',
  message: 'maximum allowed package storage quota exceeded',
}

/** Returns `version file+key …` of each version, newest first. */
async function contentsOf(db: Database, namespace: PackageNamespace, name = 'tool') {
  const found = await findPackage(db, namespace, name)
  if (found === undefined) return []
  const versions = await listFullVersions(db, found.id)
  return versions.map(({ version, files }) =>
    [version, ...files.map((file) => `${file.name}+${file.compositeKey}`)].join(' '),
  )
}

/** Returns the number of changes of a package. */
async function generationOf(db: Database, name = 'tool'): Promise<number> {
  const row = await db('packages').where({ name_lower: name }).first('generation')
  return row.generation
}

async function lostOf(works: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = await Promise.allSettled(works)
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
}

await forEachMigrated(
  t,
  'a version or file that must be unique is published once',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const namespace = namespaceOf(ownerId)
    await aPublication(db, { ownerId, version: '1.0-A' })
    await aPublication(db, { ownerId, version: '1.0-a', fileName: 'second' })
    await aPublication(db, { ownerId, version: '1.0-a', compositeKey: 'noble' })
    const contents = ['1.0-A tool.bin+ second+ tool.bin+noble']
    t.strictSame(await contentsOf(db, namespace), contents)
    for (const inputs of [{ fileName: 'Tool.BIN' }, { compositeKey: 'noble' }]) {
      await t.rejects(aPublication(db, { ownerId, version: '1.0-a', ...inputs }), FILE_EXISTS)
    }
    const unique = 'version'
    const again = { ownerId, version: '1.0-a', fileName: 'third', unique } as const
    await t.rejects(aPublication(db, again), VERSION_EXISTS)
    t.strictSame(await contentsOf(db, namespace), contents)
    t.equal(await generationOf(db), 3, 'a refused publication is not a change')
    await aPublication(db, { ownerId, version: '2.0', unique })
    await t.rejects(aPublication(db, { ownerId, version: '2.0', unique }), VERSION_EXISTS)
    t.strictSame(await contentsOf(db, namespace), ['2.0 tool.bin+', ...contents])
  },
)

await forEachMigrated(
  t,
  'files with the same bytes share a blob, also across owners',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const key = await aPublication(db, { ownerId: ada.id })
    t.match(key, /^[0-9a-f]{64}-/)
    t.equal(await aPublication(db, { ownerId: ada.id, version: '2.0' }), key)
    t.equal(await aPublication(db, { ownerId: bob.id, format: 'go' }), key)
    const other = await aPublication(db, { ownerId: bob.id, text: 'others' })
    t.not(other, key)
    const blobs = await db('blobs').orderBy('id').select('storage_key', 'bytes', 'sha512')
    t.match(blobs, [
      { storage_key: key, bytes: 5, sha512: digestsOf('bytes').sha512 },
      { storage_key: other, bytes: 6 },
    ])
    await removePackage(db, namespaceOf(ada.id), { packageName: 'tool' })
    const name = { packageName: 'tool', version: '1.0', fileName: 'tool.bin' }
    t.match(await findFile(db, namespaceOf(bob.id, 'go'), name), { blobKey: key })
  },
)

await forEachMigrated(
  t,
  'of twenty concurrent publications of one version one succeeds',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    for (const [unique, wanted] of [
      ['version', VERSION_EXISTS] as const,
      ['file', FILE_EXISTS] as const,
    ]) {
      const packageName = `by-${unique}`
      const works = Array.from({ length: 20 }, (_, n) =>
        aPublication(db, { ownerId, packageName, unique, text: `${unique} ${n}` }),
      )
      const lost = await lostOf(works)
      t.equal(lost.length, 19, unique)
      for (const failure of lost) t.match(failure, wanted)
      t.strictSame(await contentsOf(db, namespaceOf(ownerId), packageName), ['1.0 tool.bin+'])
      t.equal(await generationOf(db, packageName), 1)
    }
    t.equal((await db('blobs')).length, 2, 'no blob of the refused ones is kept')
  },
)

await forEachMigrated(t, 'twenty concurrent versions are all published', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const versions = Array.from({ length: 20 }, (_, n) => `1.${n}`)
  const properties = [{ name: 'url', value: 'https://example.com' }]
  const keys = await Promise.all(
    versions.map((version) =>
      aPublication(db, { ownerId, version, unique: 'version', properties }),
    ),
  )
  t.equal(new Set(keys).size, 1, 'equal bytes are stored once')
  t.equal((await contentsOf(db, namespaceOf(ownerId))).length, 20)
  t.equal(await generationOf(db), 20)
  t.equal((await db('package_properties')).length, 20)
})

await forEachMigrated(
  t,
  'twenty concurrent files of one version are all published',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const names = Array.from({ length: 20 }, (_, n) => `file-${n}`)
    await Promise.all(
      names.map((fileName) => aPublication(db, { ownerId, fileName, text: fileName })),
    )
    const [contents] = await contentsOf(db, namespaceOf(ownerId))
    t.strictSame(contents?.split(' ').sort(), ['1.0', ...names.map((name) => `${name}+`)].sort())
  },
)

await forEachMigrated(
  t,
  'owners who publish the same bytes concurrently share a blob',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    for (let n = 0; n < 8; n += 1) {
      const text = `bytes ${n}`
      const keys = await Promise.all(
        [ada, bob, ada, bob].map(({ id: ownerId }, at) =>
          aPublication(db, { ownerId, packageName: `tool-${n}-${at}`, text }),
        ),
      )
      t.equal(new Set(keys).size, 1)
    }
    t.equal((await db('blobs')).length, 8)
    t.equal((await db('package_files')).length, 32)
  },
)

await forEachMigrated(t, 'an owner cannot exceed the size limit', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const publish = (version: string, bytesMax: number | undefined, ownerId = ada.id) =>
    aPublication(db, { ownerId, version, quota: bytes(bytesMax) })
  await t.rejects(publish('1', 4), TOO_MUCH)
  t.equal(await findPackage(db, namespaceOf(ada.id), 'tool'), undefined)
  t.strictSame(await db('blobs'), [])
  await publish('1', 5)
  await t.rejects(publish('2', 9), TOO_MUCH, 'shared bytes count for each file')
  await publish('2', 10)
  await aPublication(db, { ownerId: ada.id, format: 'go', text: '' })
  await t.rejects(
    aPublication(db, { ownerId: ada.id, format: 'go', version: '2', quota: bytes(14) }),
    TOO_MUCH,
  )
  await publish('1', 5, bob.id)
  await publish('3', undefined)
  await removeVersion(db, namespaceOf(ada.id), { packageName: 'tool', version: '3' })
  await publish('4', 15)
})

await forEachMigrated(
  t,
  'a refused publication adds no package on SQLite, where one transaction adds all rows',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const inputs = { ownerId, indexes: [{ subject: 'new', part: '', metadata: {} }] }
    await t.rejects(aPublication(db, { ...inputs, quota: bytes(4) }), TOO_MUCH)
    const rows = isMysql(db) ? 1 : 0
    for (const table of ['packages', 'package_indexes']) t.equal((await db(table)).length, rows)
    await aPublication(db, inputs)
    for (const table of ['packages', 'package_indexes']) t.equal((await db(table)).length, 1)
  },
)

await forEachMigrated(t, 'concurrent publications do not exceed the size limit', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const works = Array.from({ length: 10 }, (_, n) =>
    aPublication(db, { ownerId, packageName: `p${n}`, text: `${n}`, quota: bytes(3) }),
  )
  const lost = await lostOf(works)
  t.equal(lost.length, 7)
  for (const failure of lost) t.match(failure, TOO_MUCH)
})

await forEachMigrated(t, 'a deleted account neither owns nor publishes packages', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  await deleteUser(db, bob.id)
  const gone = { failure: 'not_found', message: /does not exist any more/ }
  await t.rejects(aPublication(db, { ownerId: bob.id }), gone)
  await t.rejects(aPublication(db, { ownerId: ada.id, creatorId: bob.id }), gone)
  t.equal(await findPackage(db, namespaceOf(ada.id), 'tool'), undefined)
  t.strictSame(await db('blobs'), [])
})

await forEachMigrated(t, 'deleting the last file deletes its version', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const namespace = namespaceOf(ownerId)
  for (const fileName of ['A', 'b']) await aPublication(db, { ownerId, fileName })
  await aPublication(db, { ownerId, compositeKey: 'noble', fileName: 'b' })
  await aPublication(db, { ownerId, version: '2.0' })
  const remove = (fileName: string, key: object = {}) =>
    removeFile(db, namespace, { packageName: 'TOOL', version: '1.0', fileName, ...key })
  t.equal(await remove('absent'), false)
  t.equal(await remove('b', { compositeKey: 'jammy' }), false)
  t.equal(await generationOf(db), 4)
  t.equal(await remove('a'), true)
  t.equal(await remove('a'), false)
  t.equal(await remove('b', { compositeKey: 'noble' }), true)
  t.strictSame(await contentsOf(db, namespace), ['2.0 tool.bin+', '1.0 b+'])
  t.equal(await remove('b'), true)
  t.match(await db('package_versions'), [{ version: '2.0' }])
  t.equal(await generationOf(db), 7)
  const other = { packageName: 'tool', version: '2.0', fileName: 'tool.bin' }
  t.equal(await removeFile(db, namespaceOf(ownerId, 'go'), other), false)
})

await forEachMigrated(
  t,
  'a version is deleted with its files and can be published again',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const namespace = namespaceOf(ownerId)
    const properties = [{ name: 'url', value: 'x' }]
    for (const version of ['1.0-A', '2.0']) await aPublication(db, { ownerId, version, properties })
    const remove = (packageName: string, version: string) =>
      removeVersion(db, namespace, { packageName, version })
    t.equal(await remove('absent', '1.0-A'), false)
    t.equal(await remove('tool', '1.0'), false)
    t.equal(
      await removeVersion(db, namespaceOf(ownerId, 'go'), { packageName: 'tool', version: '2.0' }),
      false,
    )
    const before = await generationOf(db)
    t.equal(await remove('TOOL', '1.0-a'), true)
    t.equal(await remove('TOOL', '1.0-a'), false)
    t.ok((await generationOf(db)) > before)
    t.strictSame(await contentsOf(db, namespace), ['2.0 tool.bin+'])
    t.equal((await db('package_files')).length, 1)
    t.equal((await db('package_properties')).length, 1)
    await aPublication(db, { ownerId, version: '1.0-a', unique: 'version', text: 'other' })
    t.strictSame(await contentsOf(db, namespace), ['1.0-a tool.bin+', '2.0 tool.bin+'])
  },
)

await forEachMigrated(t, 'a package is deleted with its versions and its link', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const namespace = namespaceOf(ownerId)
  const { id: repositoryId } = await aRepository(db, ownerId, 'engine')
  for (const version of ['1', '2']) await aPublication(db, { ownerId, version })
  await aPublication(db, { ownerId, packageName: 'other' })
  await linkPackage(db, namespace, { packageName: 'tool', repositoryId })
  t.equal(await removePackage(db, namespace, { packageName: 'absent' }), false)
  t.equal(await removePackage(db, namespaceOf(ownerId, 'go'), { packageName: 'tool' }), false)
  t.equal(await removePackage(db, namespace, { packageName: 'TOOL' }), true)
  t.equal(await removePackage(db, namespace, { packageName: 'TOOL' }), false)
  t.equal(await findPackage(db, namespace, 'tool'), undefined)
  t.strictSame(await contentsOf(db, namespace, 'other'), ['1.0 tool.bin+'])
  t.equal((await db('package_files')).length, 1)
  await aPublication(db, { ownerId, version: '1' })
  t.match(
    await findPackage(db, namespace, 'tool'),
    { generation: 4 },
    'the generation is greater than before',
  )
  await linkPackage(db, namespace, { packageName: 'tool', repositoryId })
})

await forEachMigrated(
  t,
  'concurrent publications and deletions leave no version without a file',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const namespace = namespaceOf(ownerId)
    const name = { packageName: 'tool', version: '1' }
    for (let n = 0; n < 6; n += 1) {
      const text = `bytes ${n}`
      const lost = await lostOf([
        aPublication(db, { ownerId, version: '1', fileName: 'a', text }),
        removePackage(db, namespace, { packageName: 'tool' }),
        aPublication(db, { ownerId, version: '1', fileName: 'b', text }),
        aPublication(db, { ownerId, version: '2', fileName: 'a', text }),
        removeVersion(db, namespace, name),
        aPublication(db, { ownerId, version: '1', fileName: 'c', text }),
        removeFile(db, namespace, { ...name, fileName: 'c' }),
        removeFile(db, namespace, { ...name, fileName: 'a' }),
      ])
      for (const failure of lost) t.match(failure, FILE_EXISTS)
      const empty = await db('package_versions').whereNotExists(
        db('package_files').whereRaw('version_id = package_versions.id').select('id'),
      )
      t.strictSame(empty, [], 'no version without a file')
    }
  },
)

await forEachMigrated(t, 'a package has the spelling of its first upload', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const nameNow = async () => (await findPackage(db, namespaceOf(ownerId), 'TOOL'))?.name
  await aPublication(db, { ownerId, packageName: 'Tool' })
  await aPublication(db, { ownerId, packageName: 'tool', version: '2.0' })
  t.equal(await nameNow(), 'Tool')
  await removePackage(db, namespaceOf(ownerId), { packageName: 'tool' })
  await aPublication(db, { ownerId, packageName: 'TOOL' })
  t.equal(await nameNow(), 'TOOL', 'a new spelling after it was deleted')
})

await forEachMigrated(
  t,
  'of names that differ only in case one is accepted in formats with exact names',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const works = ['Tool', 'tool', 'TOOL'].map((packageName) =>
      aPublication(db, { ownerId, packageName, isExactName: true, fileName: `${packageName}.bin` }),
    )
    const lost = await lostOf(works)
    t.equal(lost.length, 2, 'also under concurrency')
    for (const error of lost) {
      t.match(error, {
        failure: 'conflict',
        message: /already exists: its name differs only in case/,
      })
    }
  },
)

await forEachMigrated(t, 'a version keeps its first README, until it is removed', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const files = [{}, { readme: 'first' }, { readme: 'second' }]
  for (const [at, file] of files.entries()) {
    await aPublication(db, { ownerId, fileName: `${at}.bin`, ...file })
  }
  const { id } = await db('package_versions').first('id')
  t.equal(await findReadme(db, id), 'first')
  const version = { packageName: 'tool', version: '1.0' }
  t.ok(await removeVersion(db, namespaceOf(ownerId), version))
  t.equal(await findReadme(db, id), undefined)
})
