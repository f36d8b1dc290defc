/** Downloads are counted in batches, and none is lost while the database is unavailable. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDownloads } from '../../registry/downloads.js'
import type { Database } from '../../sql/database/database.js'
import { openContext } from '../helpers/gateway.js'

/** Creates generic files of ada in a separate registry. */
async function someFiles(t: Test, names: readonly string[]) {
  const { context, fixture } = await openContext(t)
  const { db, log, lines } = fixture
  const ada = await fixture.addUser('ada')
  const [packageId] = await db('packages').insert({
    owner_id: ada.id,
    format: 'generic',
    name: 'tool',
    name_lower: 'tool',
    generation: 0,
    changed_at: 1,
    created_at: 1,
  })
  const [version_id] = await db('package_versions').insert({
    package_id: packageId,
    version: '1',
    version_lower: '1',
    creator_id: ada.id,
    metadata: '{}',
    created_at: 1,
  })
  const [blob_id] = await db('blobs').insert({
    sha256: '0',
    md5: '0',
    sha1: '0',
    sha512: '0',
    bytes: 0,
    storage_key: '0',
    created_at: 1,
  })
  const ids: number[] = []
  for (const name of names) {
    const [id] = await db('package_files').insert({
      version_id,
      blob_id,
      name,
      name_lower: name,
      composite_key: '',
      downloads: 0,
      created_at: 1,
    })
    ids.push(id ?? 0)
  }
  const counted = async () => {
    const rows = await db('package_files').orderBy('id').select('downloads')
    return rows.map(({ downloads }) => Number(downloads))
  }
  return { context, db, log, lines, ids, counted }
}

/** Wraps a database that fails the given number of times and counts its writes. */
function failing(db: Database, state: { failures: number; writes: number }): Database {
  const transaction = (...args: readonly unknown[]) => {
    state.writes += 1
    if (state.failures === 0) return Reflect.apply(db.transaction, db, args)
    state.failures -= 1
    return Promise.reject(new Error('the database is away'))
  }
  return new Proxy(db, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  })
}

t.test('counts are written in one batch', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a', 'b', 'c'])
  const [a = 0, b = 0] = ids
  const state = { failures: 0, writes: 0 }
  const downloads = createDownloads(failing(db, state), log)
  for (let time = 0; time < 100; time += 1) downloads.count(a)
  downloads.count(b)
  t.strictSame(await counted(), [0, 0, 0], 'no request waits for the write')
  await downloads.flush()
  t.strictSame(await counted(), [100, 1, 0])
  t.equal(state.writes, 1)
  downloads.count(a)
  await downloads.stop()
  t.strictSame(await counted(), [101, 1, 0], 'the last counts are written at the end')
})

t.test('counts are written without a call of flush', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a'])
  const downloads = createDownloads(db, log)
  t.teardown(() => downloads.stop())
  downloads.count(ids[0] ?? 0)
  while ((await counted())[0] === 0) await sleep(50)
  t.strictSame(await counted(), [1])
})

t.test('counts that could not be written are written once with the next ones', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a', 'b'])
  const [a = 0, b = 0] = ids
  const state = { failures: 2, writes: 0 }
  const downloads = createDownloads(failing(db, state), log)
  downloads.count(a)
  await t.rejects(downloads.flush(), /is away/)
  downloads.count(a)
  downloads.count(b)
  await t.rejects(downloads.flush(), /is away/)
  t.strictSame(await counted(), [0, 0])
  await downloads.stop()
  t.strictSame(await counted(), [2, 1])
})

t.test('a failed write is retried and logged', async (t) => {
  const { db, log, lines, ids, counted } = await someFiles(t, ['a'])
  const state = { failures: 1, writes: 0 }
  const downloads = createDownloads(failing(db, state), log)
  t.teardown(() => downloads.stop())
  downloads.count(ids[0] ?? 0)
  while ((await counted())[0] === 0) await sleep(50)
  t.strictSame(await counted(), [1])
  const warning = lines.find(({ msg }) => msg === 'download counts not written')
  t.match(warning, { level: 40, error: { message: 'the database is away' } })
})

t.test('concurrent flushes count nothing twice', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a'])
  const downloads = createDownloads(db, log)
  downloads.count(ids[0] ?? 0)
  const first = downloads.flush()
  downloads.count(ids[0] ?? 0)
  await Promise.all([first, downloads.flush(), downloads.stop()])
  t.strictSame(await counted(), [2])
})

t.test('a deleted file does not affect the counts of others', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a', 'b'])
  const [a = 0, b = 0] = ids
  const downloads = createDownloads(db, log)
  downloads.count(a)
  downloads.count(b)
  await db('package_files').where({ id: a }).delete()
  await downloads.stop()
  t.strictSame(await counted(), [1])
})

t.test('other kinds of downloads are passed to their own counter', async (t) => {
  const { db, log, ids, counted } = await someFiles(t, ['a'])
  const [a = 0] = ids
  const added: ReadonlyMap<number, number>[] = []
  const downloads = createDownloads(db, log, async (_db, batch) => {
    added.push(batch)
  })
  downloads.count(a)
  downloads.count(a)
  await downloads.stop()
  t.strictSame(added, [new Map([[a, 2]])])
  t.strictSame(await counted(), [0])
})
