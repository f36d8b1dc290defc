/** Zstd is decompressed, and data that would cost too much is refused in time. */

import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { unzstd } from '../../../registry/archive/unzstd.js'
import { collect } from '../../helpers/byte-chunks.js'
import { pack as packAs } from '../../helpers/debs.js'
import { busyZstdFrame, zstdFrameOfBlocks, zstdFrameOfZeros } from '../../helpers/zstd-frames.js'

const MIB = 1 << 20
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const TEXT = Buffer.from('one package after the other\n'.repeat(10_000))

const pack = (bytes: Buffer, ...args: readonly string[]) => packAs(bytes, '.zst', ...args)

t.test('data of any kind and any zstd options is decompressed', async (t) => {
  const texts = {
    nothing: Buffer.alloc(0),
    one: Buffer.from('x'),
    TEXT,
    noise: randomBytes(300_000),
    both: Buffer.concat([TEXT, randomBytes(300_000), TEXT, Buffer.alloc(300_000), TEXT]),
  }
  for (const [name, text] of Object.entries(texts)) {
    const slow = name === 'both' ? [['-19'], ['--ultra', '-22']] : []
    for (const args of [['-1'], ['--no-check'], ['--fast=9'], ...slow]) {
      const unpacked = await collect(unzstd(pack(text, ...args), 4 * MIB))
      t.ok(unpacked.equals(text), `${name} ${args.join(' ')}`)
    }
    const sized = pack(text, `--stream-size=${text.length}`)
    t.ok(
      (await collect(unzstd(sized, text.length))).equals(text),
      `${name}, with its size in the header`,
    )
  }
})

t.test('damaged and truncated data is refused or gives other data of the same size', async (t) => {
  const packed = pack(Buffer.from('a package, and then another one. '.repeat(30)))
  for (let bytes = 0; bytes < packed.length; bytes += 1) {
    const cut = packed.subarray(0, bytes)
    await t.rejects(collect(unzstd(cut, MIB)), refused(/zstd data is/), `${bytes} bytes`)
    const damaged = Buffer.from(packed)
    damaged[bytes] = (damaged[bytes] ?? 0) ^ 0x55
    const unpacked = await collect(unzstd(damaged, MIB)).catch((error) => error)
    if (!Buffer.isBuffer(unpacked)) t.equal(unpacked.failure, 'bad_request', `byte ${bytes}`)
  }
})

t.test('more output than the limit is refused', async (t) => {
  const limit = TEXT.length - 1
  await t.rejects(collect(unzstd(pack(TEXT), limit)), refused(/contains more than 279999/))
  const sized = pack(TEXT, `--stream-size=${TEXT.length}`)
  await t.rejects(collect(unzstd(sized, limit)), refused(/contains more than 279999/))
  const bomb = zstdFrameOfZeros(1 << 28)
  const before = process.memoryUsage().rss
  await t.rejects(collect(unzstd(bomb, 16 * MIB)), refused(/contains more than/))
  t.ok(process.memoryUsage().rss - before < 64 * MIB)
})

t.test('the largest default window of zstd uses no more memory than the limit', async (t) => {
  const packed = pack(TEXT, '-1', '--long=27')
  const before = process.memoryUsage().rss
  t.ok((await collect(unzstd(packed, 16 * MIB))).equals(TEXT))
  t.ok(process.memoryUsage().rss - before < 64 * MIB)
})

/** Replaces the clock that limits the time: without that, a test would take ten seconds. */
function setClock(t: Test, now: () => number): void {
  performance.now = now
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
}

t.test('a block that would take minutes is ended', async (t) => {
  // The step before it uses up most of the time.
  const times = [0, 9_900]
  setClock(t, () => times.shift() ?? 9_900)
  await t.rejects(collect(unzstd(busyZstdFrame(20_000), 16 * MIB)), refused(/takes too long/))
})

t.test('many blocks that each move the window are ended', async (t) => {
  const now = performance.now.bind(performance)
  setClock(t, () => now() * 100)
  const frame = zstdFrameOfBlocks(8_000, 500)
  await t.rejects(collect(unzstd(frame, 16 * MIB)), refused(/takes too long/))
})
