/** Publishing stores the file before a row refers to it, and leaves nothing if it fails. */

import t, { type Test } from 'tap'
import { Failure, isFailure } from '../../conf/failures.js'
import type { Publication } from '../../registry/package-store.js'
import { type Publisher, publishReceived } from '../../registry/publish.js'
import { receiveFile } from '../../registry/received-file.js'
import type { BlobStorage } from '../../registry/storage/storage.js'
import { findFile } from '../../sql/packages/package-files.js'
import { findPackage } from '../../sql/packages/packages.js'
import { read } from '../conformance/blob-storage.js'
import { openContext } from '../helpers/gateway.js'

const TOOL: Publication = {
  packageName: 'tool',
  version: '1.0',
  fileName: 'tool.bin',
  unique: 'version',
}

/** Returns functions that publish as ada into a separate registry. */
async function aPublisher(t: Test) {
  const { context, fixture } = await openContext(t)
  const { db, storage } = context.registry
  const ada = await fixture.addUser('ada')
  const namespace = { ownerId: ada.id, format: 'generic' }
  const publisher = { db, storage, namespace, userId: ada.id, quota: undefined }
  const publish = async (
    text: string,
    given: Partial<Publication> = {},
    options: Partial<Publisher> = {},
  ) => {
    const body = (async function* () {
      yield Buffer.from(text)
    })()
    const { incomingFolder: folder } = storage
    const file = await receiveFile(body, { folder, bytesMax: undefined })
    try {
      await publishReceived({ ...publisher, ...options }, file, { ...TOOL, ...given })
    } finally {
      await file.discard()
    }
  }
  const textOf = async (given: Partial<Publication> = {}) => {
    const file = await findFile(db, namespace, { ...TOOL, ...given })
    if (file === undefined) return undefined
    return (await read(storage, file.blobKey, 0, file.bytes)).toString()
  }
  const blobs = async () => {
    const keys: string[] = []
    for await (const { key } of storage.list()) keys.push(key)
    return keys
  }
  return { db, storage, namespace, publish, textOf, blobs }
}

t.test('a published file is found and read, and its package has changed', async (t) => {
  const { db, namespace, publish, textOf, blobs } = await aPublisher(t)
  await publish('one')
  t.equal(await textOf(), 'one')
  const before = await findPackage(db, namespace, 'tool')
  await publish('two', { version: '2.0' })
  t.equal(await textOf({ version: '2.0' }), 'two')
  const after = await findPackage(db, namespace, 'tool')
  t.ok((after?.generation ?? 0) > (before?.generation ?? 0))
  t.equal((await blobs()).length, 2)
})

t.test('equal bytes are stored once, whatever their names', async (t) => {
  const { publish, textOf, blobs } = await aPublisher(t)
  await publish('same')
  const kept = await blobs()
  await publish('same', { version: '2.0' })
  await publish('same', { packageName: 'other' })
  t.strictSame(await blobs(), kept)
  t.equal(await textOf({ packageName: 'other' }), 'same')
})

t.test('an existing file is refused, and the first one is kept', async (t) => {
  const { storage, publish, textOf, blobs } = await aPublisher(t)
  await publish('one')
  const kept = await blobs()
  const put = () => Promise.reject(new Error('it is sent to the storage'))
  for (const [given, message] of [
    [{}, 'package version already exists'],
    [{ packageName: 'TOOL', fileName: 'other.bin' }, 'package version already exists'],
    [{ unique: 'file' }, 'package file already exists'],
    [{ unique: 'file', fileName: 'TOOL.bin' }, 'package file already exists'],
  ] as const) {
    const refused = publish('two', given, { storage: { ...storage, put } })
    await t.rejects(refused, { failure: 'conflict', message })
  }
  t.equal(await textOf(), 'one')
  t.strictSame(await blobs(), kept)
  await publish('more', { unique: 'file', fileName: 'other.bin' })
  await publish('key', { unique: 'file', compositeKey: 'other' })
  t.equal(await textOf({ fileName: 'other.bin' }), 'more')
  t.equal(await textOf({ compositeKey: 'other' }), 'key')
})

t.test(
  'of concurrent publications of one version one succeeds, and the others leave no blob',
  async (t) => {
    const { publish, textOf, blobs } = await aPublisher(t)
    const texts = Array.from({ length: 8 }, (_, index) => `text ${index}`)
    const outcomes = await Promise.allSettled(texts.map((text) => publish(text)))
    const winners = texts.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    t.equal(winners.length, 1)
    t.equal(await textOf(), winners[0])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') t.ok(isFailure(outcome.reason, 'conflict'))
    }
    t.equal((await blobs()).length, 1)
  },
)

t.test('the size limit of an owner is exact to the byte', async (t) => {
  const { publish, textOf, blobs } = await aPublisher(t)
  const options = { quota: { bytesMax: 10, versionsMax: undefined } }
  await publish('123456', {}, options)
  const tooMuch = publish('12345', { version: '2.0' }, options)
  await t.rejects(tooMuch, { failure: 'forbidden', message: /quota exceeded/ })
  t.equal(await textOf({ version: '2.0' }), undefined)
  t.equal((await blobs()).length, 1)
  await publish('1234', { version: '2.0' }, options)
  t.equal(await textOf({ version: '2.0' }), '1234')
})

t.test('names and searched properties have a maximum length', async (t) => {
  const { publish, blobs } = await aPublisher(t)
  const long = 'n'.repeat(256)
  for (const [given, message] of [
    [{ packageName: long }, /^the package name is longer than 255 characters$/],
    [{ version: long }, /^the package version is longer than 255 characters$/],
    [{ fileName: long }, /^the file name is longer than 255 characters$/],
    [{ compositeKey: long }, /^the location of the file .* is longer than 255 characters$/],
    [{ properties: [{ name: 'key', value: 'v'.repeat(501) }] }, /longer than 500 characters/],
  ] as const) {
    await t.rejects(publish('x', given), { failure: 'bad_request', message })
  }
  t.strictSame(await blobs(), [], 'nothing was stored for it')
  const most = 'n'.repeat(255)
  const properties = [{ name: 'key', value: 'v'.repeat(500) }]
  await publish('x', { packageName: most, version: most, fileName: most, properties })
})

t.test('if the storage fails, no row is written', async (t) => {
  const { db, namespace, storage, publish } = await aPublisher(t)
  // Represents a network storage that may not answer.
  const away: BlobStorage = {
    ...storage,
    put: () => Promise.reject(new Failure('unavailable', 'The storage does not answer.')),
  }
  await t.rejects(publish('one', {}, { storage: away }), {
    failure: 'unavailable',
    message: /storage/,
  })
  t.equal(await findPackage(db, namespace, 'tool'), undefined)
  await publish('one')
})

t.test('a blob is kept if it is unknown whether its rows were written', async (t) => {
  const { db, publish, blobs } = await aPublisher(t)
  for (const [error, left] of [
    [new Error('the connection broke'), 1],
    [new Failure('unavailable', 'The database does not answer.'), 2],
    [new Failure('conflict', 'It is there.'), 2],
  ] as const) {
    const broken = new Proxy(db, {
      get: (target, name) =>
        name === 'transaction' ? () => Promise.reject(error) : Reflect.get(target, name),
    })
    await t.rejects(publish(error.message, {}, { db: broken }), error)
    t.equal((await blobs()).length, left, error.message)
  }
})
