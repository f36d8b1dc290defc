/** Files are read completely, and slow disks do not block the event loop. */

import fs, { closeSync, openSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  borrowBuffer,
  readChunks,
  readPart,
  readSmallPart,
} from '../../../conf/lib/read-buffers.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const BYTES = 5_000_001
const CONTENT = Buffer.alloc(BYTES, 'The quick brown fox. ')

async function aFile(t: Test): Promise<number> {
  const path = join(await temporaryFolder(t), 'file')
  writeFileSync(path, CONTENT)
  const file = openSync(path, 'r')
  t.teardown(() => closeSync(file))
  return file
}

const cutShort = () => new Error('cut short')

async function contentOf(file: number, start: number, end: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of readChunks(file, { start, end, cutShort })) {
    parts.push(Buffer.from(chunk))
  }
  return Buffer.concat(parts)
}

/** Stops the clock; each synchronous read moves it on by `ms`. Counts these reads. */
function timeReads(t: Test, ms: number): { count: number } {
  const { readSync } = fs
  const reads = { count: 0 }
  t.intercept(performance, 'now', { value: () => reads.count * ms })
  const timed = (...args: readonly unknown[]) => {
    reads.count += 1
    return (readSync as (...all: readonly unknown[]) => number)(...args)
  }
  fs.readSync = timed as typeof readSync
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.readSync = readSync
    syncBuiltinESMExports()
  })
  return reads
}

/** Reads in the thread pool until slow reads, also those of other tests, are long ago. */
async function forgetSlowReads(file: number): Promise<void> {
  const into = Buffer.alloc(1)
  for (let n = 0; n < 40; n += 1) await readPart(file, into, { length: 1, position: 0 })
}

t.test('any part of a file is read unchanged', async (t) => {
  const file = await aFile(t)
  for (const [start, end] of [
    [0, BYTES],
    [1, 2],
    [65_535, 2_000_000],
    [BYTES - 1, BYTES],
    [7, 7],
  ] as const) {
    t.ok((await contentOf(file, start, end)).equals(CONTENT.subarray(start, end)))
  }
})

t.test('a file that is too short is an error', async (t) => {
  const file = await aFile(t)
  await t.rejects(contentOf(file, 0, BYTES + 1), /cut short/)
})

t.test('reads of cached files let other callbacks run', async (t) => {
  const file = await aFile(t)
  const buffer = borrowBuffer()
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  for (let at = 0; at < 2_000; at += 1)
    await readPart(file, buffer.bytes, { length: 9, position: 0 })
  clearInterval(timer)
  buffer.release()
  t.ok(turns > 0, 'a timer has run in between')
})

t.test('after a slow synchronous read the next reads are asynchronous for a while', async (t) => {
  const file = await aFile(t)
  await t.test('before', async (t) => {
    timeReads(t, 0)
    await forgetSlowReads(file)
  })
  const reads = timeReads(t, 5)
  const buffer = borrowBuffer()
  const readOften = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      t.equal(await readPart(file, buffer.bytes, { length: 9, position: 0 }), 9)
    }
  }
  await readOften(20)
  t.equal(reads.count, 1)
  await readOften(20)
  t.equal(reads.count, 2)
  buffer.release()
})

t.test('a small part is read synchronously, except after a slow read', async (t) => {
  const path = join(await temporaryFolder(t), 'file')
  writeFileSync(path, CONTENT)
  const into = Buffer.alloc(1_000)
  await t.test('after fast reads', async (t) => {
    timeReads(t, 0)
    await forgetSlowReads(await aFile(t))
    t.equal(readSmallPart(path, into, BYTES - 10), 10, 'up to the end of the file')
    t.equal(readSmallPart(path, into, 5), 1_000)
    t.ok(into.equals(CONTENT.subarray(5, 1_005)))
    t.throws(() => readSmallPart(`${path}-none`, into, 0), { code: 'ENOENT' })
  })
  const reads = timeReads(t, 5)
  t.equal(readSmallPart(path, into, 0), 1_000)
  t.equal(readSmallPart(path, into, 0), undefined)
  t.equal(reads.count, 1)
})
