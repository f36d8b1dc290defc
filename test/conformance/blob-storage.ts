/** Conformance tests for implementations of blob storage. */

import { createHash, randomBytes } from 'node:crypto'
import { access, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { BlobStorage } from '../../registry/storage/storage.js'

export interface Conformance {
  /** Opens a new empty storage. */
  readonly open: (t: Test) => Promise<BlobStorage>
  /** Size of a blob that the driver stores in another way than a small one, if it has two ways. */
  readonly largeBytes: number
}

/** Returns random bytes, so that no two parts are equal. */
export function contentOf(bytes: number): Buffer {
  return randomBytes(bytes)
}

/** Returns a storage key for these bytes, in the form that the registry uses. */
export function keyOf(content: Buffer): string {
  const digest = createHash('sha256').update(content).digest('hex')
  return `${digest}-${randomBytes(8).toString('hex')}`
}

/** Writes these bytes to a file in the folder of incoming uploads. */
export async function receive(storage: BlobStorage, content: Buffer) {
  const path = join(storage.incomingFolder, randomBytes(8).toString('hex'))
  await writeFile(path, content)
  return { path, bytes: content.length }
}

/** Stores these bytes; returns their key. */
export async function keep(storage: BlobStorage, content: Buffer): Promise<string> {
  const key = keyOf(content)
  await storage.put(key, await receive(storage, content))
  return key
}

/** Reads a range of a blob; returns its bytes. */
export async function read(storage: BlobStorage, key: string, start: number, end: number) {
  const chunks: Buffer[] = []
  for await (const chunk of await storage.open(key, { start, end })) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

async function listed(storage: BlobStorage) {
  const blobs = []
  for await (const blob of storage.list()) blobs.push(blob)
  return blobs
}

/** Adds all conformance tests to a test. */
export function blobStorageConforms(t: Test, conformance: Conformance): void {
  bytesComeBack(t, conformance)
  putsAreWhole(t, conformance)
  readersMayLeave(t, conformance)
  removalAndLists(t, conformance)
}

function bytesComeBack(t: Test, { open, largeBytes }: Conformance): void {
  t.test('a blob of any size is read back unchanged', async (t) => {
    const storage = await open(t)
    for (const bytes of [0, 1, 65_536, 1_400_001, largeBytes]) {
      const content = contentOf(bytes)
      const key = await keep(storage, content)
      t.ok((await read(storage, key, 0, bytes)).equals(content), `${bytes} bytes`)
    }
  })

  t.test('a range is read from its inclusive start to its exclusive end', async (t) => {
    const storage = await open(t)
    const content = contentOf(1_400_001)
    const key = await keep(storage, content)
    const parts = [0, 1, 65_535, 65_536, 700_000, 1_400_000, 1_400_001]
    for (const start of parts) {
      for (const end of parts.filter((end) => end >= start)) {
        const part = await read(storage, key, start, end)
        t.ok(part.equals(content.subarray(start, end)), `${start} to ${end}`)
      }
    }
  })

  t.test('concurrent puts and reads return the right bytes', async (t) => {
    const storage = await open(t)
    const contents = [...Array(24).keys()].map((at) => contentOf(at * 40_000))
    const keys = await Promise.all(contents.map((content) => keep(storage, content)))
    const same = await Promise.all(
      keys.flatMap((key, at) =>
        [0, 1].map(async () => {
          const content = contents[at] ?? Buffer.of()
          return (await read(storage, key, 0, content.length)).equals(content)
        }),
      ),
    )
    t.strictSame(new Set(same), new Set([true]))
  })

  t.test('opening a missing blob is an error, also for an empty range', async (t) => {
    const storage = await open(t)
    const key = keyOf(Buffer.of(1))
    for (const end of [0, 1]) {
      await t.rejects(storage.open(key, { start: 0, end }), { message: /missing/ }, `${end} bytes`)
    }
  })

  t.test('reading beyond the end of a blob is an error', async (t) => {
    const storage = await open(t)
    const key = await keep(storage, contentOf(1_000))
    await t.rejects(read(storage, key, 0, 1_001), { message: /shorter/ })
    await t.rejects(read(storage, key, 1_000, 1_001), { message: /shorter/ })
    await t.rejects(read(storage, key, 2_000, 2_001), { message: /shorter/ })
  })
}

function putsAreWhole(t: Test, { open, largeBytes }: Conformance): void {
  t.test('the folder of incoming files is private, and put removes the file from it', async (t) => {
    const storage = await open(t)
    t.equal((await stat(storage.incomingFolder)).mode & 0o777, 0o700)
    const content = contentOf(1_000)
    const file = await receive(storage, content)
    await storage.put(keyOf(content), file)
    await t.rejects(access(file.path), { code: 'ENOENT' })
  })

  t.test('a file of another size than declared is not stored, and is removed', async (t) => {
    const storage = await open(t)
    for (const bytes of [1_000, largeBytes]) {
      for (const more of [1, -1]) {
        const content = contentOf(bytes)
        const file = await receive(storage, content)
        const key = keyOf(content)
        await t.rejects(storage.put(key, { ...file, bytes: bytes + more }), `${bytes} ${more}`)
        await t.rejects(access(file.path), { code: 'ENOENT' })
        await t.rejects(storage.open(key, { start: 0, end: 1 }), { message: /missing/ })
      }
    }
    t.strictSame(await listed(storage), [])
  })

  t.test('putting a missing file keeps the existing blob', async (t) => {
    const storage = await open(t)
    const content = contentOf(1_000)
    const key = await keep(storage, content)
    const path = join(storage.incomingFolder, 'none')
    await t.rejects(storage.put(key, { path, bytes: 1_000 }), { code: 'ENOENT' })
    t.ok((await read(storage, key, 0, 1_000)).equals(content))
  })

  t.test('an invalid key is refused by put, open and remove', async (t) => {
    const storage = await open(t)
    const file = await receive(storage, contentOf(1))
    for (const key of ['', 'incoming', '../../file', `${keyOf(Buffer.of())}/..`]) {
      await t.rejects(storage.put(key, file), { message: /invalid blob key/ }, `put ${key}`)
      await t.rejects(storage.open(key, { start: 0, end: 1 }), { message: /invalid blob key/ })
      await t.rejects(storage.remove(key), { message: /invalid blob key/ })
    }
  })
}

function readersMayLeave(t: Test, { open, largeBytes }: Conformance): void {
  t.test('a reader can be closed before the first chunk, after it, or twice', async (t) => {
    const storage = await open(t)
    const content = contentOf(largeBytes)
    const key = await keep(storage, content)
    const range = { start: 0, end: largeBytes }
    for (let time = 0; time < 8; time += 1) {
      const unread = (await storage.open(key, range))[Symbol.asyncIterator]()
      t.match(await unread.return?.(), { done: true })
      t.match(await unread.return?.(), { done: true })
      for await (const chunk of await storage.open(key, range)) {
        t.ok(content.subarray(0, chunk.byteLength).equals(chunk))
        break
      }
    }
    t.ok((await read(storage, key, 0, largeBytes)).equals(content), 'the blob can still be read')
  })
}

function removalAndLists(t: Test, { open, largeBytes }: Conformance): void {
  t.test('the size of a blob is returned, and undefined for a missing one', async (t) => {
    const storage = await open(t)
    for (const bytes of [0, 10, largeBytes]) {
      const key = await keep(storage, contentOf(bytes))
      t.equal(await storage.sizeOf(key), bytes)
      await storage.remove(key)
      t.equal(await storage.sizeOf(key), undefined)
    }
  })

  t.test('a removed blob is missing, and can be removed again', async (t) => {
    const storage = await open(t)
    for (const bytes of [10, largeBytes]) {
      const key = await keep(storage, contentOf(bytes))
      await storage.remove(key)
      await storage.remove(key)
      await t.rejects(storage.open(key, { start: 0, end: 1 }), { message: /missing/ })
    }
    t.strictSame(await listed(storage), [])
  })

  t.test('all blobs are listed with their size and the time of their write', async (t) => {
    const storage = await open(t)
    t.strictSame(await listed(storage), [], 'a new storage is empty')
    const startMs = Date.now()
    const sizes = new Map<string, number>()
    for (const bytes of [0, 1, 1_000, largeBytes]) {
      sizes.set(await keep(storage, contentOf(bytes)), bytes)
    }
    await receive(storage, contentOf(1))
    const blobs = await listed(storage)
    t.strictSame(new Map(blobs.map(({ key, bytes }) => [key, bytes])), sizes)
    // Times of files and of servers are inexact, which suffices for a sweeper that waits for hours.
    for (const { writtenAtMs } of blobs) t.ok(Math.abs(writtenAtMs - startMs) < 600_000)
  })
}
