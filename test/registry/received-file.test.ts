/** A body is received completely, with its digests, or leaves no file. */

import { createHash } from 'node:crypto'
import { access, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isFailure } from '../../conf/failures.js'
import { createDigestThread } from '../../gateway/pool/digests.js'
import { receiveFile, SIZE_EXCEEDED } from '../../registry/received-file.js'
import { contentOf } from '../conformance/blob-storage.js'
import { openFilesBelow } from '../helpers/open-files.js'
import { succeeds } from '../helpers/small-disk.js'
import { temporaryFolder } from '../helpers/temporary.js'

const thread = createDigestThread()
const digest = thread.start
t.teardown(() => thread.stop())

/** Yields chunks that reuse one memory, as those of a request do. */
async function* chunksOf(content: Uint8Array, bytes = 10_000): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(bytes)
  for (let start = 0; start < content.length; start += bytes) {
    const part = content.subarray(start, start + bytes)
    memory.set(part)
    yield memory.subarray(0, part.length)
    memory.fill(0)
  }
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = []
  for await (const chunk of chunks) copies.push(Buffer.from(chunk))
  return Buffer.concat(copies)
}

async function receive(t: Test, content: Uint8Array) {
  const folder = await temporaryFolder(t)
  const file = await receiveFile(chunksOf(content), { folder, bytesMax: undefined, digest })
  return { folder, file }
}

function hexOf(algorithm: string, content: Uint8Array): string {
  return createHash(algorithm).update(content).digest('hex')
}

t.test('the file is readable by its owner only and has its size and digests', async (t) => {
  for (const bytes of [0, 1, 10_000, 131_072, 131_073, 250_001, 1_000_000]) {
    const content = contentOf(bytes)
    const { file } = await receive(t, content)
    t.equal(file.bytes, bytes)
    t.strictSame(await readFile(file.path), content)
    t.equal((await stat(file.path)).mode & 0o777, 0o640)
    t.strictSame(file.digests, {
      md5: hexOf('md5', content),
      sha1: hexOf('sha1', content),
      sha256: hexOf('sha256', content),
      sha512: hexOf('sha512', content),
    })
    await file.discard()
  }
})

t.test('only the digests of a body over 128 KiB are computed in the thread', async (t) => {
  const folder = await temporaryFolder(t)
  const started = async (bytes: number) => {
    let starts = 0
    const counted = () => {
      starts += 1
      return digest()
    }
    const body = chunksOf(contentOf(bytes))
    const file = await receiveFile(body, { folder, bytesMax: undefined, digest: counted })
    await file.discard()
    return starts
  }
  t.strictSame([await started(131_072), await started(131_073)], [0, 1])
})

t.test('any part of the file can be read, up to its end', async (t) => {
  const content = contentOf(200_000)
  const { file } = await receive(t, content)
  t.teardown(() => file.discard())
  for (const [start, length] of [
    [0, 4],
    [199_990, 10],
    [199_990, 100],
    [0, 200_000],
    [200_000, 1],
    [300_000, 1],
  ] as const) {
    const part = await file.read(start, length)
    t.strictSame(part, content.subarray(start, start + length), `${length} from ${start}`)
  }
  t.strictSame(await joined(file.stream()), content)
  t.strictSame(await joined(file.stream(70_000)), content.subarray(70_000))
  t.strictSame(await joined(file.stream(5, 140_000)), content.subarray(5, 140_000))
  t.strictSame(await joined(file.stream(5, 900_000)), content.subarray(5))
})

t.test('a file that was moved can still be read and is kept', async (t) => {
  const content = contentOf(1_000)
  const { folder, file } = await receive(t, content)
  await rename(file.path, join(folder, 'place'))
  t.strictSame(await file.read(0, 1_000), content)
  await file.discard()
  t.strictSame(await readdir(folder), ['place'])
  t.equal(await openFilesBelow(folder), 0)
})

t.test('a discarded file is deleted and closed', async (t) => {
  const { folder, file } = await receive(t, contentOf(1_000))
  t.equal(await openFilesBelow(folder), 1)
  await file.discard()
  t.strictSame(await readdir(folder), [])
  t.equal(await openFilesBelow(folder), 0)
  await t.rejects(access(file.path), { code: 'ENOENT' })
})

t.test('a body that is too large is refused before it is complete', async (t) => {
  const folder = await temporaryFolder(t)
  let sent = 0
  const endless = async function* () {
    for (;;) {
      sent += 1_000
      yield new Uint8Array(1_000)
    }
  }
  const error = await receiveFile(endless(), { folder, bytesMax: 5_000, digest }).catch(
    (thrown) => thrown,
  )
  t.ok(isFailure(error, 'forbidden') && error.message === SIZE_EXCEEDED)
  t.equal(sent, 6_000)
  t.strictSame(await readdir(folder), [])
  t.equal(await openFilesBelow(folder), 0)
  const file = await receiveFile(chunksOf(contentOf(5_000)), { folder, bytesMax: 5_000, digest })
  t.equal(file.bytes, 5_000, 'a body of exactly the limit is accepted')
  await file.discard()
})

t.test('a body that fails leaves no file, and its error is thrown', async (t) => {
  const folder = await temporaryFolder(t)
  const broken = async function* () {
    yield new Uint8Array(50_000)
    throw new Error('the client disconnected')
  }
  await t.rejects(
    receiveFile(broken(), { folder, bytesMax: undefined, digest }),
    /client disconnected/,
  )
  t.strictSame(await readdir(folder), [])
  t.equal(await openFilesBelow(folder), 0)
})

t.test('a file that does not fit on the disk leaves nothing', async (t) => {
  const folder = await temporaryFolder(t)
  if (!(await succeeds('mount', '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder))) {
    t.comment('skipped: a small disk cannot be mounted on this machine')
    return
  }
  t.teardown(() => succeeds('umount', '-l', folder))
  const options = { folder, bytesMax: undefined, digest }
  const error = await receiveFile(chunksOf(contentOf(900_000)), options).catch((thrown) => thrown)
  t.match(error, { code: 'ENOSPC' })
  t.strictSame(await readdir(folder), [])
  t.equal(await openFilesBelow(folder), 0)
  const content = contentOf(100_000)
  const file = await receiveFile(chunksOf(content), options)
  t.strictSame(await file.read(0, content.length), content, 'a smaller file fits')
  await file.discard()
})
