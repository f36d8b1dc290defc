/** Small blobs are read once and cached; larger ones are streamed for each request. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ReplyBody } from '../../conf/http.js'
import { createBlobBodies } from '../../registry/blob-bodies.js'
import { openFileStorage } from '../../registry/storage/files.js'
import type { ByteRange } from '../../registry/storage/storage.js'
import { contentOf, keep } from '../conformance/blob-storage.js'
import { temporaryFolder } from '../helpers/temporary.js'

const SMALL_BYTES = 65_536

/** Creates bodies over files that record how often a file is opened. */
async function someBodies(t: Test) {
  const storage = await openFileStorage(join(await temporaryFolder(t), 'blobs'))
  const opened: ByteRange[] = []
  const bodies = createBlobBodies({
    open: (key, range) => {
      opened.push(range)
      return storage.open(key, range)
    },
  })
  const add = async (bytes: number) => {
    const content = contentOf(bytes)
    return { content, bytes, blobKey: await keep(storage, content) }
  }
  return { storage, bodies, opened, add }
}

async function bytesOf(body: ReplyBody): Promise<Buffer> {
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

t.test('a small blob is opened once for all requests and ranges', async (t) => {
  const { bodies, opened, add } = await someBodies(t)
  for (const bytes of [1, 1_000, SMALL_BYTES]) {
    const blob = await add(bytes)
    opened.length = 0
    const whole = { start: 0, end: bytes }
    const atOnce = await Promise.all([1, 2, 3].map(() => bodies.bodyOf(blob, whole)))
    const parts = [whole, { start: bytes - 1, end: bytes }, { start: 0, end: 1 }]
    for (const body of atOnce) t.strictSame(await bytesOf(body), blob.content)
    for (const part of parts) {
      const body = await bodies.bodyOf(blob, part)
      t.ok(body instanceof Uint8Array, 'in one piece')
      t.strictSame(await bytesOf(body), blob.content.subarray(part.start, part.end))
    }
    t.strictSame(opened, [whole], `${bytes} bytes`)
  }
})

t.test('a larger blob is opened for each request with its range only', async (t) => {
  const { bodies, opened, add } = await someBodies(t)
  const blob = await add(SMALL_BYTES + 1)
  const parts = [
    { start: 0, end: blob.bytes },
    { start: 5, end: 10 },
    { start: 5, end: 10 },
  ]
  for (const part of parts) {
    const body = await bodies.bodyOf(blob, part)
    t.equal(body instanceof Uint8Array, part.end === 10, 'a small part is in one piece')
    t.strictSame(await bytesOf(body), blob.content.subarray(part.start, part.end))
  }
  t.strictSame(opened, parts)
})

t.test('an empty blob is not opened', async (t) => {
  const { bodies, opened } = await someBodies(t)
  t.equal(await bodies.bodyOf({ blobKey: 'none', bytes: 0 }, { start: 0, end: 0 }), '')
  t.strictSame(opened, [])
})

t.test('a failed read is not cached', async (t) => {
  const { storage, bodies, opened, add } = await someBodies(t)
  const blob = await add(10)
  const part = { start: 0, end: 10 }
  const longer = { ...blob, bytes: 11 }
  await t.rejects(bodies.bodyOf(longer, { start: 0, end: 11 }), /shorter/)
  await storage.remove(blob.blobKey)
  await t.rejects(bodies.bodyOf(blob, part), /missing/)
  t.equal(opened.length, 2)
})

t.test('the cache has a size limit, and the blob that was requested last is kept', async (t) => {
  const { bodies, opened, add } = await someBodies(t)
  const blobs = await Promise.all(Array.from({ length: 300 }, () => add(SMALL_BYTES)))
  for (const blob of blobs) await bodies.bodyOf(blob, { start: 0, end: 1 })
  const [first, last] = [blobs[0], blobs.at(-1)]
  if (first === undefined || last === undefined) throw new Error('there are blobs')
  opened.length = 0
  await bodies.bodyOf(last, { start: 0, end: 1 })
  t.equal(opened.length, 0)
  await bodies.bodyOf(first, { start: 0, end: 1 })
  t.equal(opened.length, 1)
})
