/** Contents of indexes, and detection of their changes. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  type EntryPosition,
  findIndex,
  listChangedKeys,
  listEntries,
  listParts,
  type NewIndexEntry,
} from '../../../sql/packages/package-indexes.js'
import { removeFile, removePackage, removeVersion } from '../../../sql/packages/publications.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

const place = (subject: string, part: string, note = '', key = `${note} ${part}`) => ({
  key,
  subject,
  part,
  metadata: { note },
})

async function openFixture(db: Database) {
  const { id: ownerId } = await aUser(db, 'ada')
  const namespace = namespaceOf(ownerId, 'debian')
  return {
    namespace,
    publish: (name: string, ...indexes: readonly NewIndexEntry[]) =>
      aPublication(db, {
        ownerId,
        format: 'debian',
        packageName: name,
        fileName: `${name}.deb`,
        text: name,
        indexes,
      }),
    find: (subject: string) => findIndex(db, namespace, subject),
    async namesIn(subject: string, { from = '', to }: { from?: string; to?: string } = {}) {
      const index = await findIndex(db, namespace, subject)
      const question = { after: { key: from, id: 0 }, to, limit: 100 }
      const entries = await listEntries(db, index?.id ?? 0, question)
      return entries.map((entry) => `${entry.packageName} ${entry.part} ${entry.metadata['note']}`)
    },
  }
}

await forEachMigrated(t, 'a file is listed in its indexes, ordered by key', async (t, db) => {
  const { publish, find, namesIn } = await openFixture(db)
  t.equal(await find('stable'), undefined)
  await publish('one', place('stable', 'main', 'first'), place('testing', 'main'))
  await publish('two', place('stable', 'extra'), place('stable', 'main'))
  t.strictSame(await namesIn('stable'), ['two extra ', 'two main ', 'one main first'])
  t.strictSame(await namesIn('testing'), ['one main '])
  t.strictSame(await namesIn('stable', { from: ' main' }), ['two main ', 'one main first'])
  t.strictSame(await namesIn('stable', { to: ' main' }), ['two extra '])
  const index = await find('stable')
  t.strictSame(await listParts(db, index?.id ?? 0), ['extra', 'main'])
  const page = async (after: EntryPosition) =>
    await listEntries(db, index?.id ?? 0, { after, to: undefined, limit: 1 })
  const [entry] = await page({ key: '', id: 0 })
  t.match(entry, { packageName: 'two', version: '1.0', file: { name: 'two.deb', bytes: 3 } })
  const [next] = await page(entry ?? { key: '', id: 0 })
  t.match(next, { packageName: 'two', part: 'main', key: ' main' })
})

await forEachMigrated(t, 'entries with one key are in order of publishing', async (t, db) => {
  const { publish, namesIn } = await openFixture(db)
  for (const name of ['b', 'c', 'a']) await publish(name, place('stable', 'main', '', 'same'))
  t.strictSame(await namesIn('stable'), ['b main ', 'c main ', 'a main '])
  const unkeyed = { subject: 'testing', part: 'main', metadata: { note: '' } }
  for (let at = 12; at > 0; at -= 1) await publish(`n${at}`, unkeyed)
  const wanted = Array.from({ length: 12 }, (_, at) => `n${12 - at} main `)
  t.strictSame(await namesIn('testing'), wanted, 'entries without a key too')
})

await forEachMigrated(t, 'the keys changed since a generation are listed', async (t, db) => {
  const { namespace, publish, find } = await openFixture(db)
  const publishAs = (name: string) => publish(name, place('stable', 'main', '', `key of ${name}`))
  for (const name of ['one', 'two', 'three']) await publishAs(name)
  const changedSince = async (built: number) => {
    const index = await find('stable')
    if (index === undefined) throw new Error('there is an index')
    return (await listChangedKeys(db, { ...index, built })).toSorted()
  }
  t.strictSame(await changedSince(0), ['key of one', 'key of three', 'key of two'])
  t.strictSame(await changedSince(3), [])
  await removeVersion(db, namespace, { packageName: 'two', version: '1.0' })
  t.strictSame(await changedSince(3), ['key of two'])
  await publishAs('four')
  t.strictSame(await changedSince(3), ['key of four', 'key of two'])
})

await forEachMigrated(t, 'every change gives an index a new generation', async (t, db) => {
  const { namespace, publish, find, namesIn } = await openFixture(db)
  for (const name of ['one', 'two', 'three', 'four']) await publish(name, place('stable', 'main'))
  await publish('apart', place('testing', 'main'))
  const seen = [await find('stable')]
  const change = async (work: Promise<unknown>) => {
    await work
    seen.push(await find('stable'))
  }
  await change(
    removeFile(db, namespace, { packageName: 'one', version: '1.0', fileName: 'one.deb' }),
  )
  await change(removeVersion(db, namespace, { packageName: 'two', version: '1.0' }))
  await change(removePackage(db, namespace, { packageName: 'three' }))
  await change(publish('five', place('stable', 'main')))
  t.strictSame(
    seen.map((index) => index?.wanted),
    [4, 5, 6, 7, 8],
  )
  const times = seen.map((index) => index?.changedAtMs ?? 0)
  t.strictSame(
    times.toSorted((a, b) => a - b),
    times,
  )
  t.equal(new Set(times).size, times.length, 'each time is later than the one before')
  t.strictSame((await namesIn('stable')).toSorted(), ['five main ', 'four main '])
  t.equal((await find('testing'))?.wanted, 1, 'other indexes are unchanged')
})

await forEachMigrated(t, 'a refused publication changes no index', async (t, db) => {
  const { publish, find } = await openFixture(db)
  await publish('one', place('stable', 'main'))
  const again = publish('one', place('stable', 'main'))
  await t.rejects(again, { failure: 'conflict', message: 'package file already exists' })
  t.equal((await find('stable'))?.wanted, 1)
})

await forEachMigrated(t, 'concurrent publications are all counted', async (t, db) => {
  const { publish, find, namesIn } = await openFixture(db)
  const names = Array.from({ length: 20 }, (_, at) => `p${at}`)
  await Promise.all(names.map((name) => publish(name, place('stable', 'main'), place('b', 'x'))))
  t.equal((await find('stable'))?.wanted, 20)
  t.equal((await namesIn('stable')).length, 20)
})
