/** What belongs into an index, and that each change of it is seen, on both databases. */

import { t } from 'tap'
import type { Database } from '../../sql/database.js'
import { findIndex, listEntries, listParts } from '../../sql/package-indexes.js'
import { removeFile, removePackage, removeVersion } from '../../sql/publications.js'
import { forEachMigrated } from '../helpers/databases.js'
import { aPublication, shelfOf } from '../helpers/package-rows.js'
import { aUser } from '../helpers/rows.js'

const place = (subject: string, part: string, note = '') => ({ subject, part, metadata: { note } })

async function aShelf(db: Database) {
  const { id: ownerId } = await aUser(db, 'ada')
  const shelf = shelfOf(ownerId, 'debian')
  return {
    shelf,
    publish: (name: string, ...indexes: readonly ReturnType<typeof place>[]) =>
      aPublication(db, {
        ...{ ownerId, format: 'debian', packageName: name, fileName: `${name}.deb` },
        ...{ text: name, indexes },
      }),
    find: (subject: string) => findIndex(db, shelf, subject),
    async namesIn(subject: string, part?: string) {
      const index = await findIndex(db, shelf, subject)
      const entries = await listEntries(db, index?.id ?? 0, { part, afterId: 0, limit: 100 })
      return entries.map((entry) => `${entry.packageName} ${entry.part} ${entry.metadata['note']}`)
    },
  }
}

await forEachMigrated(
  t,
  'a file is listed in its indexes, in the order of publishing',
  async (t, db) => {
    const { publish, find, namesIn } = await aShelf(db)
    t.equal(await find('stable'), undefined)
    await publish('one', place('stable', 'main', 'first'), place('testing', 'main'))
    await publish('two', place('stable', 'extra'), place('stable', 'main'))
    t.strictSame(await namesIn('stable'), ['one main first', 'two extra ', 'two main '])
    t.strictSame(await namesIn('stable', 'main'), ['one main first', 'two main '])
    t.strictSame(await namesIn('testing'), ['one main '])
    const index = await find('stable')
    t.strictSame(await listParts(db, index?.id ?? 0), ['extra', 'main'])
    const [entry] = await listEntries(db, index?.id ?? 0, { part: 'main', afterId: 0, limit: 1 })
    t.match(entry, { packageName: 'one', version: '1.0', file: { name: 'one.deb', bytes: 3 } })
    const rest = await listEntries(db, index?.id ?? 0, {
      ...{ part: 'main', afterId: entry?.id ?? 0, limit: 10 },
    })
    t.strictSame(
      rest.map(({ packageName }) => packageName),
      ['two'],
    )
  },
)

await forEachMigrated(t, 'every change makes an index of another generation', async (t, db) => {
  const { shelf, publish, find, namesIn } = await aShelf(db)
  for (const name of ['one', 'two', 'three', 'four']) await publish(name, place('stable', 'main'))
  await publish('apart', place('testing', 'main'))
  const seen = [await find('stable')]
  const change = async (work: Promise<unknown>) => {
    await work
    seen.push(await find('stable'))
  }
  await change(removeFile(db, shelf, { packageName: 'one', version: '1.0', fileName: 'one.deb' }))
  await change(removeVersion(db, shelf, { packageName: 'two', version: '1.0' }))
  await change(removePackage(db, shelf, 'three'))
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
  t.equal(new Set(times).size, times.length, 'and each is later than the one before')
  t.strictSame(await namesIn('stable'), ['four main ', 'five main '])
  t.equal((await find('testing'))?.wanted, 1, 'the others stay as they are')
})

await forEachMigrated(t, 'a publication that is refused changes no index', async (t, db) => {
  const { publish, find } = await aShelf(db)
  await publish('one', place('stable', 'main'))
  const again = publish('one', place('stable', 'main'))
  await t.rejects(again, { failure: 'conflict', message: 'package file already exists' })
  t.equal((await find('stable'))?.wanted, 1)
})

await forEachMigrated(t, 'many at once are all counted', async (t, db) => {
  const { publish, find, namesIn } = await aShelf(db)
  const names = Array.from({ length: 20 }, (_, at) => `p${at}`)
  await Promise.all(names.map((name) => publish(name, place('stable', 'main'), place('b', 'x'))))
  t.equal((await find('stable'))?.wanted, 20)
  t.equal((await namesIn('stable')).length, 20)
})
