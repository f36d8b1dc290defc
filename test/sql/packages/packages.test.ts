/**
 * Packages are found by name, searched by text and property, and have increasing times of change.
 */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  ensurePackage,
  findPackage,
  type PackageSearch,
  searchPackages,
  touchPackage,
} from '../../../sql/packages/packages.js'
import { removeVersion } from '../../../sql/packages/publications.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

const HOSTILE_NAMES = [
  "it's",
  '"quoted"',
  '\\',
  'a\\_b',
  '%',
  '_',
  'a;drop table packages',
  '?',
  '$1',
  '??',
  '\u{1f6de} wheel',
  'e\u0301',
  '\u00e9',
  '\0',
  'a\0b',
  '\u202eexe',
  '__proto__',
  '-- ',
  ' ',
  '../x',
  'NULL',
  '0',
  '1e3',
  'n'.repeat(255),
]

await forEachMigrated(t, 'a package is found in any case of ASCII', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  await aPublication(db, { ownerId: ada.id, packageName: 'Wheel-K' })
  await aPublication(db, { ownerId: ada.id, packageName: 'WHEEL-k', version: '2' })
  const found = await findPackage(db, namespaceOf(ada.id), 'wheel-k')
  t.match(found, { name: 'Wheel-K', generation: 2 }, 'in the case of its first upload')
  t.strictSame(await findPackage(db, namespaceOf(ada.id), 'WHEEL-K'), found)
  for (const name of ['wheel-\u212a', 'wheel-k ', ' wheel-k', 'wheel_k', 'wheel', '%', '']) {
    t.equal(await findPackage(db, namespaceOf(ada.id), name), undefined, name)
  }
  t.equal(await findPackage(db, namespaceOf(bob.id), 'wheel-k'), undefined)
  t.equal(await findPackage(db, namespaceOf(ada.id, 'go'), 'wheel-k'), undefined)
  await t.rejects(findPackage(db, namespaceOf(ada.id), { name: 1 } as never), TypeError)
})

await forEachMigrated(t, 'a package without a version is not found', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const id = await ensurePackage(db, namespaceOf(ownerId), 'Tool')
  t.equal(await ensurePackage(db, namespaceOf(ownerId), 'tOOL'), id)
  t.equal(await findPackage(db, namespaceOf(ownerId), 'tool'), undefined)
  t.strictSame(await searchPackages(db, namespaceOf(ownerId)), { packages: [], total: 0 })
  await aPublication(db, { ownerId })
  t.match(await findPackage(db, namespaceOf(ownerId), 'tool'), { id, name: 'tool' })
  await removeVersion(db, namespaceOf(ownerId), { packageName: 'tool', version: '1.0' })
  t.equal(await findPackage(db, namespaceOf(ownerId), 'tool'), undefined)
  t.equal(await ensurePackage(db, namespaceOf(ownerId), 'tool'), id)
})

await forEachMigrated(
  t,
  'concurrent creations of one package return the same id',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const names = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'tool' : 'TOOL'))
    const ids = await Promise.all(
      names.map((name) => ensurePackage(db, namespaceOf(ownerId), name)),
    )
    t.equal(new Set(ids).size, 1)
    t.equal((await db('packages')).length, 1)
  },
)

await forEachMigrated(
  t,
  'package names with SQL and LIKE characters are plain text',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    for (const packageName of HOSTILE_NAMES) await aPublication(db, { ownerId, packageName })
    t.equal((await searchPackages(db, namespaceOf(ownerId))).total, HOSTILE_NAMES.length)
    for (const name of HOSTILE_NAMES) {
      t.match(await findPackage(db, namespaceOf(ownerId), name), { name }, JSON.stringify(name))
      const { packages } = await searchPackages(db, { ...namespaceOf(ownerId), text: name })
      const wanted = HOSTILE_NAMES.filter((other) =>
        other.toLowerCase().includes(name.toLowerCase()),
      )
      t.strictSame(new Set(packages.map((found) => found.name)), new Set(wanted), `text ${name}`)
    }
  },
)

/** Returns the names and the number of all matches. */
async function searched(db: Database, search: PackageSearch) {
  const { packages, total } = await searchPackages(db, search)
  return [packages.map(({ name }) => name).join(), total]
}

await forEachMigrated(
  t,
  'a search matches a part of the name, in pages and in order',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    for (const packageName of ['b', 'Ab_c', 'abxc', 'a%c'])
      await aPublication(db, { ownerId, packageName })
    const namespace = namespaceOf(ownerId)
    t.strictSame(await searched(db, namespace), ['a%c,Ab_c,abxc,b', 4])
    t.strictSame(await searched(db, { ...namespace, text: '' }), ['a%c,Ab_c,abxc,b', 4])
    t.strictSame(await searched(db, { ...namespace, text: 'B' }), ['Ab_c,abxc,b', 3])
    t.strictSame(await searched(db, { ...namespace, text: 'b_' }), ['Ab_c', 1])
    t.strictSame(await searched(db, { ...namespace, text: '%' }), ['a%c', 1])
    t.strictSame(await searched(db, { ...namespace, text: 'a%' }), ['a%c', 1])
    t.strictSame(await searched(db, { ...namespace, limit: 3 }), ['a%c,Ab_c,abxc', 4])
    t.strictSame(await searched(db, { ...namespace, limit: 3, offset: 3 }), ['b', 4])
    t.strictSame(await searched(db, { ...namespace, text: 'b', limit: 1, offset: 1 }), ['abxc', 3])
    t.strictSame(await searched(db, { ...namespace, limit: 3, offset: 9 }), ['', 4])
    t.strictSame(await searched(db, namespaceOf(ownerId, 'go')), ['', 0])
  },
)

await forEachMigrated(t, 'a search matches a property of any version exactly', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const namespace = namespaceOf(ownerId)
  const url = 'https://example.com/A'
  const properties = [url, 'https://example.com/b'].map((value) => ({ name: 'url', value }))
  await aPublication(db, { ownerId, packageName: 'one', properties })
  await aPublication(db, { ownerId, packageName: 'one', version: '2' })
  await aPublication(db, { ownerId, packageName: 'two', properties: properties.slice(1) })
  await aPublication(db, { ownerId, packageName: 'other', format: 'go', properties })
  const by = (value: string, name = 'url') =>
    searched(db, { ...namespace, property: { name, value } })
  t.strictSame(await by(url), ['one', 1])
  t.strictSame(
    await by('https://example.com/b'),
    ['one,two', 2],
    'though not of the latest version',
  )
  for (const value of [url.toLowerCase(), 'https://example.com/_', '%', '', `${url} `]) {
    t.strictSame(await by(value), ['', 0], value)
  }
  t.strictSame(await by(url, 'type'), ['', 0])
  const property = { name: 'url', value: 'https://example.com/b' }
  t.strictSame(await searched(db, { ...namespace, property, text: 'w' }), ['two', 1])
  await removeVersion(db, namespace, { packageName: 'one', version: '1.0' })
  t.strictSame(await by(url), ['', 0], 'the property is deleted with its version')
})

await forEachMigrated(
  t,
  'a found package has its latest version and its downloads',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    for (const version of ['2', '10', '1']) {
      await aPublication(db, { ownerId, version, metadata: { version, ['__proto__']: null } })
      await aPublication(db, { ownerId, version, fileName: 'second' })
    }
    await aPublication(db, { ownerId, packageName: 'another' })
    await db('package_files').update({ downloads: 3 })
    const { packages } = await searchPackages(db, namespaceOf(ownerId))
    t.match(packages, [
      { name: 'another', downloads: 3, latest: { version: '1.0', metadata: {} } },
      { name: 'tool', downloads: 18, latest: { version: '1', metadata: { version: '1' } } },
    ])
  },
)

await forEachMigrated(t, 'a change is always later than the one before', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const id = await ensurePackage(db, namespaceOf(ownerId), 'tool')
  const state = async () => {
    const row = await db('packages').where({ id }).first()
    return { generation: row.generation, changedAtMs: row.changed_at }
  }
  const made = await state()
  t.equal(made.generation, 0)
  await db('packages').update({ changed_at: 1 })
  const beforeMs = Date.now()
  t.equal(await touchPackage(db, id), true)
  const first = await state()
  t.equal(first.generation, 1)
  t.ok(first.changedAtMs >= beforeMs && first.changedAtMs <= Date.now(), 'the current time')
  const futureMs = Date.now() + 86_400_000
  await db('packages').update({ changed_at: futureMs })
  for (const seconds of [1, 2]) {
    await touchPackage(db, id)
    const later = { generation: 1 + seconds, changedAtMs: futureMs + seconds * 1_000 }
    t.strictSame(await state(), later, 'also if the clock went back')
  }
  t.equal(await touchPackage(db, id + 1), false)
})

await forEachMigrated(t, 'each of many concurrent changes is counted', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const id = await ensurePackage(db, namespaceOf(ownerId), 'tool')
  await Promise.all(Array.from({ length: 20 }, () => touchPackage(db, id)))
  t.match(await db('packages').first(), { generation: 20 })
})
