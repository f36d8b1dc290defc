/** Versions of a package: newest first, found in any case, with files and metadata unchanged. */

import { t } from 'tap'
import type { JsonObject } from '../../../conf/package.js'
import type { Database } from '../../../sql/database/database.js'
import {
  findVersion,
  listFullVersions,
  listVersions,
} from '../../../sql/packages/package-versions.js'
import { findPackage } from '../../../sql/packages/packages.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, digestsOf, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

async function idOf(db: Database, ownerId: number, name: string): Promise<number> {
  const found = await findPackage(db, namespaceOf(ownerId), name)
  if (found === undefined) throw new Error('the package was not made')
  return found.id
}

await forEachMigrated(t, 'versions are listed newest first, each with its files', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  for (const [version, fileName] of [
    ['2.0', 'b'] as const,
    ['10.0', 'a'] as const,
    ['1.0', 'c'] as const,
    ['2.0', 'A'] as const,
    ['2.0', 'a2'] as const,
  ]) {
    await aPublication(db, { ownerId, version, fileName, text: `${version} ${fileName}` })
  }
  await aPublication(db, { ownerId, packageName: 'another', version: '9' })
  const id = await idOf(db, ownerId, 'tool')
  const versions = await listVersions(db, id)
  t.strictSame(
    versions.map(({ version }) => version),
    ['1.0', '10.0', '2.0'],
  )
  const full = await listFullVersions(db, id)
  t.strictSame(
    full.map(({ version, files }) => [version, ...files.map(({ name }) => name)]),
    [
      ['1.0', 'c'],
      ['10.0', 'a'],
      ['2.0', 'b', 'A', 'a2'],
    ],
    'oldest file first',
  )
  t.strictSame(
    full.map(({ metadata: _m, files: _f, ...rest }) => rest),
    versions,
  )
  t.match(full[0]?.files[0], {
    name: 'c',
    compositeKey: '',
    bytes: 5,
    downloads: 0,
    digests: digestsOf('1.0 c'),
    blobKey: /^[0-9a-f]{64}-/,
  })
  t.strictSame(await listVersions(db, id + 9), [])
  t.strictSame(await listFullVersions(db, id + 9), [])
})

await forEachMigrated(t, 'a version is found in any case of ASCII', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  await aPublication(db, { ownerId, version: '1.0-RC/ß K' })
  const id = await idOf(db, ownerId, 'tool')
  const [wanted] = await listFullVersions(db, id)
  t.equal(wanted?.version, '1.0-RC/ß K')
  t.strictSame(await findVersion(db, id, '1.0-rc/ß k'), wanted)
  for (const version of ['1.0-RC/ß \u212a', '1.0-RC/ẞ K', '1.0-RC/ß K ', '1.0', '%', '']) {
    t.equal(await findVersion(db, id, version), undefined, version)
  }
  t.equal(await findVersion(db, id + 1, '1.0-RC/ß K'), undefined)
  await t.rejects(findVersion(db, id, 1 as never), TypeError)
})

await forEachMigrated(t, 'metadata is stored unchanged, whatever it contains', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const metadata: JsonObject = {
    text: '\u{1f6de} \\ \' " \0 \u2028',
    large: 'ü'.repeat(100_000),
    number: 1e21,
    nested: [null, true, { a: [] }],
    constructor: 'x',
    '': 0,
    ...JSON.parse('{"hasOwnProperty": 1}'),
  }
  await aPublication(db, { ownerId, metadata })
  await aPublication(db, { ownerId, fileName: 'second', metadata: { other: 1 } })
  const id = await idOf(db, ownerId, 'tool')
  t.strictSame(
    (await findVersion(db, id, '1.0'))?.metadata,
    metadata,
    'the metadata of the first file',
  )
})

await forEachMigrated(
  t,
  'a version is never visible without its file while it is published',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    await aPublication(db, { ownerId, version: '0' })
    const id = await idOf(db, ownerId, 'tool')
    const publications = Array.from({ length: 15 }, (_, n) =>
      aPublication(db, { ownerId, version: `1.${n}`, text: `${n}` }),
    )
    const lists = Array.from({ length: 15 }, () => listFullVersions(db, id))
    for (const list of await Promise.all(lists)) {
      t.ok(list.every(({ files }) => files.length === 1))
    }
    await Promise.all(publications)
    t.equal((await listFullVersions(db, id)).length, 16)
  },
)
