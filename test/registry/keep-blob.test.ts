/** Blobs are stored before a row refers to them, and removed if none does. */

import t, { type Test } from 'tap'
import { Failure } from '../../conf/failures.js'
import { storeBlob } from '../../registry/keep-blob.js'
import { receiveFile } from '../../registry/received-file.js'
import { read } from '../conformance/blob-storage.js'
import { chunksOf } from '../helpers/byte-chunks.js'
import { openContext } from '../helpers/gateway.js'

async function aStore(t: Test) {
  const { context } = await openContext(t)
  const { storage, digest } = context.registry
  const receive = async (text: string) => {
    const folder = storage.incomingFolder
    const file = await receiveFile(chunksOf(Buffer.from(text)), {
      folder,
      bytesMax: undefined,
      digest,
    })
    t.teardown(() => file.discard())
    return file
  }
  const keys = async () => {
    const found: string[] = []
    for await (const { key } of storage.list()) found.push(key)
    return found
  }
  return { storage, receive, keys }
}

t.test('the bytes are stored when the row is written', async (t) => {
  const { storage, receive, keys } = await aStore(t)
  const file = await receive('text')
  const kept = await storeBlob(storage, file, async ({ key, bytes, digests }) => {
    t.equal((await read(storage, key, 0, bytes)).toString(), 'text')
    t.strictSame(digests, file.digests)
    return { blobKey: key, name: 'a name' }
  })
  t.equal(kept.name, 'a name')
  t.match(kept.blobKey, new RegExp(`^${file.digests.sha256}-[0-9a-f]{16}$`))
  t.strictSame(await keys(), [kept.blobKey])
})

t.test('a blob that already exists or was refused is removed', async (t) => {
  const { storage, receive, keys } = await aStore(t)
  await storeBlob(storage, await receive('text'), async () => ({ blobKey: 'another' }))
  t.strictSame(await keys(), [])
  const refused = storeBlob(storage, await receive('text'), async () => {
    throw new Failure('conflict', 'It is there already.')
  })
  await t.rejects(refused, { failure: 'conflict', message: 'It is there already.' })
  t.strictSame(await keys(), [])
})

t.test('a blob is kept if it is unknown whether its row was written', async (t) => {
  const { storage, receive, keys } = await aStore(t)
  for (const error of [new Failure('unavailable', 'away'), new Error('a bug')]) {
    const lost = storeBlob(storage, await receive(error.message), () => Promise.reject(error))
    await t.rejects(lost, error)
  }
  t.equal((await keys()).length, 2)
})
