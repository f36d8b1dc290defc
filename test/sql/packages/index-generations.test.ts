/** Index generations: one process at a time publishes, and a lost lease publishes nothing. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  findGenerationFile,
  findGenerationFileByDigest,
  leaseIndex,
  publishGeneration,
  renewIndexLease,
  returnIndexLease,
} from '../../../sql/packages/index-generations.js'
import { findIndex } from '../../../sql/packages/package-indexes.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, digestsOf, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

async function anIndex(db: Database) {
  const { id: ownerId } = await aUser(db, 'ada')
  const indexes = [{ key: 'tool', subject: 'stable', part: 'main', metadata: {} }]
  await aPublication(db, { ownerId, format: 'debian', indexes })
  const find = async () => {
    const index = await findIndex(db, namespaceOf(ownerId, 'debian'), 'stable')
    if (index === undefined) throw new Error('no index')
    return index
  }
  const { id: indexId } = await find()
  return { find, indexId, leaseOf: (letter: string) => ({ indexId, lease: letter.repeat(32) }) }
}

function aFile(path: string, text: string) {
  const digests = digestsOf(text)
  return { path, blob: { key: `key of ${path} ${text}`, bytes: text.length, digests } }
}

await forEachMigrated(
  t,
  'a lease has one holder until it expires or is released',
  async (t, db) => {
    const { leaseOf } = await anIndex(db)
    const [one, two] = [leaseOf('a'), leaseOf('b')]
    t.equal(await leaseIndex(db, one, 60_000), true)
    t.equal(await leaseIndex(db, two, 60_000), false)
    t.equal(await renewIndexLease(db, one, -1), true)
    t.equal(await leaseIndex(db, two, 60_000), true, 'the lease has expired')
    t.equal(await renewIndexLease(db, one, 60_000), false)
    await returnIndexLease(db, one)
    t.equal(await leaseIndex(db, one, 60_000), false, 'only the holder releases the lease')
    await returnIndexLease(db, two)
    t.equal(await leaseIndex(db, one, 60_000), true)
  },
)

await forEachMigrated(t, 'the files of a generation are published together', async (t, db) => {
  const { find, indexId, leaseOf } = await anIndex(db)
  const lease = leaseOf('a')
  await leaseIndex(db, lease, 60_000)
  const files = [aFile('Packages', 'list'), aFile('Release', 'sums'), aFile('Copy', 'list')]
  const generation = { lease, generation: 1, validMs: 7, keptSinceMs: 0, files }
  t.strictSame(await publishGeneration(db, generation), ['key of Copy list'], 'the bytes are known')
  t.match(await find(), { wanted: 1, built: 1, validMs: 7 })
  const release = await findGenerationFile(db, indexId, { generation: 1, path: 'Release' })
  t.match(release, { path: 'Release', bytes: 4, blobKey: 'key of Release sums' })
  t.equal(await findGenerationFile(db, indexId, { generation: 2, path: 'Release' }), undefined)
  t.equal(await findGenerationFile(db, indexId, { generation: 1, path: 'release' }), undefined)
  const { sha256, sha512 } = digestsOf('sums')
  for (const question of [
    { algorithm: 'sha256', digest: sha256 } as const,
    { algorithm: 'sha512', digest: sha512 } as const,
  ]) {
    t.equal((await findGenerationFileByDigest(db, indexId, question))?.path, 'Release')
  }
  t.equal(await publishGeneration(db, generation), undefined, 'publishing has ended the lease')
})

await forEachMigrated(t, 'a process that lost the lease publishes nothing', async (t, db) => {
  const { find, leaseOf } = await anIndex(db)
  const [one, two] = [leaseOf('a'), leaseOf('b')]
  await leaseIndex(db, one, -1)
  await leaseIndex(db, two, 60_000)
  const files = [aFile('Packages', 'of one')]
  const late = { lease: one, generation: 1, validMs: 7, keptSinceMs: 0, files }
  t.equal(await publishGeneration(db, late), undefined)
  t.match(await find(), { built: 0, modifiedAtMs: 0 })
  t.strictSame(await db('package_index_files').select(), [])
  t.ok(await publishGeneration(db, { ...late, lease: two }))
})

await forEachMigrated(t, 'a generation is kept until its readers have had time', async (t, db) => {
  const { indexId, leaseOf } = await anIndex(db)
  const publish = async (generation: number, keptSinceMs: number) => {
    const lease = leaseOf('a')
    await leaseIndex(db, lease, 60_000)
    const files = [aFile('Packages', `list ${generation}`)]
    await publishGeneration(db, { lease, generation, validMs: undefined, keptSinceMs, files })
    const found = [1, 2, 3, 4].map((number) =>
      findGenerationFile(db, indexId, { generation: number, path: 'Packages' }),
    )
    return (await Promise.all(found)).map((file) => file !== undefined)
  }
  for (const generation of [1, 2]) await publish(generation, 0)
  t.strictSame(await publish(3, 0), [true, true, true, false])
  const later = Date.now() + 60_000
  t.strictSame(await publish(4, later), [false, false, true, true], 'replaced just now')
})

await forEachMigrated(
  t,
  'two generations never have the same second as their time',
  async (t, db) => {
    const { find, leaseOf } = await anIndex(db)
    const times: number[] = []
    for (const generation of [1, 2, 3]) {
      const lease = leaseOf('a')
      await leaseIndex(db, lease, 60_000)
      const files = [aFile('Packages', `list ${generation}`)]
      await publishGeneration(db, { lease, generation, validMs: undefined, keptSinceMs: 0, files })
      times.push((await find()).modifiedAtMs)
    }
    for (const time of times) t.equal(time % 1_000, 0)
    t.equal(new Set(times).size, 3)
    t.strictSame(
      times.toSorted((a, b) => a - b),
      times,
    )
  },
)
