/** A file with one writer and many readers, each at its own pace. */

import { fstatSync, writeSync } from 'node:fs'
import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { GrowingFile } from '../../../gateway/packs/growing-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible } from '../../helpers/working-copy.js'

const present = () => new AbortController().signal

async function aFile(t: Test) {
  const path = join(await temporaryFolder(t), 'growing')
  const file = new GrowingFile(path, 'writer')
  const write = (bytes: Uint8Array | string) => writeSync(file.file, Buffer.from(bytes))
  return { path, file, write }
}

/** Reads to the end with a pause before each next chunk. */
async function readAll(body: AsyncIterable<Uint8Array>, pauseMs = 0): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk))
    if (pauseMs > 0) await sleep(pauseMs)
  }
  return Buffer.concat(chunks)
}

const isClosed = (file: number) => {
  try {
    fstatSync(file)
    return false
  } catch {
    return true
  }
}

t.test('fast, slow and late readers get every byte', async (t) => {
  const { path, file, write } = await aFile(t)
  const content = Buffer.from(incompressible(3_000_000))
  const other = new GrowingFile(path, 'reader')
  const readers = [readAll(file.open(present())), readAll(file.open(present()), 20)]
  readers.push(readAll(other.open(present()), 5))
  for (let at = 0; at < content.length; at += 300_000) {
    write(content.subarray(at, at + 300_000))
    await sleep(3)
  }
  readers.push(readAll(file.open(present())))
  file.end({ bytes: content.length })
  other.end({ bytes: content.length })
  readers.push(readAll(file.open(present())))
  for (const [index, read] of (await Promise.all(readers)).entries()) {
    t.ok(read.equals(content), `reader ${index}`)
  }
  t.strictSame([file.readers, other.readers], [0, 0])
})

t.test('bytes after the end of the answer are not read', async (t) => {
  const { file, write } = await aFile(t)
  const early = readAll(file.open(present()))
  write('answer')
  file.end({ bytes: 6 })
  write('checksums')
  t.equal((await early).toString(), 'answer')
  t.equal((await readAll(file.open(present()))).toString(), 'answer')
})

t.test('an answer begins with its first byte, its end, or its error', async (t) => {
  const { file, write } = await aFile(t)
  let hasBegun = false
  const begun = file.begun(present()).then(() => {
    hasBegun = true
  })
  await sleep(30)
  t.notOk(hasBegun)
  write('x')
  await begun
  const empty = (await aFile(t)).file
  const waiting = empty.begun(present())
  empty.end({ bytes: 0 })
  await t.resolves(waiting)
  t.equal((await readAll(empty.open(present()))).length, 0)
  const failed = (await aFile(t)).file
  const refused = failed.begun(present())
  failed.end({ error: new Error('no such object') })
  await t.rejects(refused, /no such object/)
  await t.rejects(failed.begun(present()), /no such object/, 'and for later readers')
})

t.test('an error after some bytes is thrown after these bytes', async (t) => {
  const { file, write } = await aFile(t)
  write('some')
  await file.begun(present())
  const chunks = file.open(present())[Symbol.asyncIterator]()
  t.equal(Buffer.from((await chunks.next()).value).toString(), 'some')
  const next = chunks.next()
  file.end({ error: new Error('killed') })
  await t.rejects(next, /killed/)
  t.equal(file.readers, 0)
  file.end({ bytes: 4 })
  await t.rejects(readAll(file.open(present())), /killed/, 'the first end counts')
})

t.test('a client that disconnects ends its own reader only', async (t) => {
  const { file, write } = await aFile(t)
  write('one')
  const client = new AbortController()
  const leaving = file.open(client.signal)[Symbol.asyncIterator]()
  const staying = readAll(file.open(present()))
  const waiting = file.begun(client.signal)
  const { value } = await leaving.next()
  t.equal(Buffer.from(value ?? []).toString(), 'one')
  t.equal(file.readers, 2)
  const next = leaving.next()
  client.abort()
  t.match(await next, { done: true })
  await waiting
  t.equal(file.readers, 1)
  write(' two')
  file.end({ bytes: 7 })
  t.equal((await staying).toString(), 'one two')
  const gone = file.open(client.signal)
  t.equal((await readAll(gone)).length, 0, 'a disconnected client reads nothing')
  t.equal(file.readers, 0)
})

t.test('the end of the last reader is reported each time, also if it never read', async (t) => {
  const { file, write } = await aFile(t)
  let times = 0
  file.onUnread = () => {
    times += 1
  }
  const [one, two] = [file.open(present()), file.open(present())]
  await one[Symbol.asyncIterator]().return?.()
  t.equal(times, 0)
  await two[Symbol.asyncIterator]().return?.()
  await two[Symbol.asyncIterator]().return?.()
  t.equal(times, 1)
  write('x')
  const three = file.open(present())[Symbol.asyncIterator]()
  await three.next()
  await three.return?.()
  t.strictSame([times, file.readers], [2, 0])
})

t.test('the file is closed with its last reader after it was released', async (t) => {
  const { file, write } = await aFile(t)
  write('all')
  file.end({ bytes: 3 })
  await readAll(file.open(present()))
  t.notOk(isClosed(file.file), 'another reader may begin')
  const last = file.open(present())
  file.release()
  t.strictSame([file.isClosed, isClosed(file.file)], [false, false])
  t.equal((await readAll(last)).toString(), 'all')
  t.strictSame([file.isClosed, isClosed(file.file)], [true, true])
  const alone = (await aFile(t)).file
  alone.release()
  t.ok(alone.isClosed)
})

t.test('a file that was unlinked can be read to its end', async (t) => {
  const { path, file, write } = await aFile(t)
  const reading = readAll(file.open(present()), 1)
  write('before ')
  await sleep(10)
  await rm(path)
  write('after')
  file.end({ bytes: 12 })
  t.equal((await reading).toString(), 'before after')
})

t.test('a truncated file is an error', async (t) => {
  const { path, file, write } = await aFile(t)
  write('something')
  await truncate(path, 4)
  file.end({ bytes: 9 })
  await t.rejects(readAll(file.open(present())), /was truncated while it was read/)
})

t.test('a writer creates the file, and a reader must find it', async (t) => {
  const { path } = await aFile(t)
  t.throws(() => new GrowingFile(path, 'writer'), { code: 'EEXIST' })
  t.throws(() => new GrowingFile(`${path}x`, 'reader'), { code: 'ENOENT' })
})

t.test('a writer creates its folder again after it was removed', async (t) => {
  const path = join(await temporaryFolder(t), 'packs', 'growing')
  const file = new GrowingFile(path, 'writer')
  writeSync(file.file, 'something')
  file.end({ bytes: 9 })
  t.equal(String(await readAll(file.open(present()))), 'something')
})
