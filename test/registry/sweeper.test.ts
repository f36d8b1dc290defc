/** Unused blobs are removed from the storage, and no others. */

import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sweepBlobs } from '../../registry/sweeper.js'
import { beginHold, endHold } from '../../sql/admin/holds.js'
import { openContext } from '../helpers/gateway.js'
import { aPublishedFile } from '../helpers/published-files.js'

async function openFixture(t: Test) {
  const { context, fixture } = await openContext(t)
  const user = await fixture.addUser('ada')
  const { db, storage } = context.registry
  const keys = async () => {
    const found: string[] = []
    for await (const { key } of storage.list()) found.push(key)
    return found
  }
  return {
    db,
    storage,
    keys,
    publish: (name: string, text: string) => aPublishedFile(context.registry, { user, name, text }),
  }
}

/** Stores bytes without a row, as an interrupted upload does. */
async function leaveBlob({ storage }: Pick<Awaited<ReturnType<typeof openFixture>>, 'storage'>) {
  const path = join(storage.incomingFolder, 'left')
  await writeFile(path, 'left')
  const key = `${'a'.repeat(64)}-${'b'.repeat(16)}`
  await storage.put(key, { path, bytes: 4 })
  return key
}

t.test('a blob is deleted with the last of its files', async (t) => {
  const { db, storage, keys, publish } = await openFixture(t)
  const one = await publish('one', 'the same bytes')
  const two = await publish('two', 'the same bytes')
  t.equal((await keys()).length, 1, 'equal bytes are stored once')
  await one.removeVersion('one', '1.0')
  t.strictSame(await sweepBlobs({ db, storage }), { unused: 0, left: 0 })
  const file = await two.findFile({ packageName: 'two', version: '1.0', fileName: 'two' })
  t.ok(file)
  await two.removeVersion('two', '1.0')
  t.strictSame(await sweepBlobs({ db, storage }), { unused: 1, left: 0 })
  t.strictSame(await keys(), [])
  const again = await publish('one', 'the same bytes')
  t.ok(await again.findPackage('one'), 'the bytes can be published again')
  t.equal((await keys()).length, 1)
})

t.test('a blob without a row is deleted only when it is too old for an upload', async (t) => {
  const fixture = await openFixture(t)
  const { db, storage, keys, publish } = fixture
  await publish('kept', 'kept')
  const left = await leaveBlob(fixture)
  await writeFile(join(storage.incomingFolder, 'cut'), 'half of it')
  t.strictSame(await sweepBlobs({ db, storage }), { unused: 0, left: 0 }, 'not immediately')
  t.ok((await keys()).includes(left))
  t.strictSame(await sweepBlobs({ db, storage, graceMs: -1_000 }), { unused: 0, left: 2 })
  t.equal((await keys()).length, 1)
  t.strictSame(await readdir(storage.incomingFolder), [])
})

t.test('a file that is received for hours is not deleted', async (t) => {
  const { db, storage } = await openFixture(t)
  const path = join(storage.incomingFolder, 'arriving')
  await writeFile(path, 'begun')
  const twoHoursAgo = new Date(Date.now() - 7_200_000)
  await utimes(path, twoHoursAgo, new Date())
  await sweepBlobs({ db, storage })
  t.strictSame(await readdir(storage.incomingFolder), ['arriving'])
  await utimes(path, twoHoursAgo, twoHoursAgo)
  await sweepBlobs({ db, storage })
  t.strictSame(await readdir(storage.incomingFolder), [])
})

t.test('a sweep ends when it is aborted', async (t) => {
  const fixture = await openFixture(t)
  const { db, storage, keys, publish } = fixture
  await (await publish('gone', 'gone')).removeVersion('gone', '1.0')
  const signal = AbortSignal.abort()
  t.strictSame(await sweepBlobs({ db, storage, signal, graceMs: -1 }), { unused: 0, left: 0 })
  t.equal((await keys()).length, 1)
})

t.test(
  'during a backup, no bytes are removed, neither of deleted files nor without a row',
  async (t) => {
    const fixture = await openFixture(t)
    const { db, storage, keys, publish } = fixture
    await (await publish('gone', 'gone')).removeVersion('gone', '1.0')
    await leaveBlob(fixture)
    const hold = await beginHold(db, 'backup')
    t.strictSame(await sweepBlobs({ db, storage, graceMs: -1_000 }), { unused: 0, left: 0 })
    t.equal((await keys()).length, 2)
    await endHold(db, hold)
    await sweepBlobs({ db, storage, graceMs: -1_000 })
    t.strictSame(await keys(), [])
  },
)
