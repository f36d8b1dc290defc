/** Xz is decompressed, and damaged data and bombs are refused. */

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { unxz } from '../../../registry/archive/unxz.js'
import { collect } from '../../helpers/byte-chunks.js'
import { pack as packAs } from '../../helpers/debs.js'

const MIB = 1 << 20
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const DAMAGED = refused(/xz data is damaged, truncated/)
const TEXT = Buffer.from('one package after the other\n'.repeat(10_000))

const pack = (bytes: Buffer, ...args: readonly string[]) => packAs(bytes, '.xz', ...args)

t.test('data of any kind and any xz options is decompressed', async (t) => {
  const texts = {
    nothing: Buffer.alloc(0),
    one: Buffer.from('x'),
    TEXT,
    noise: randomBytes(300_000),
  }
  for (const [name, text] of Object.entries(texts)) {
    for (const args of [['-0'], ['-9'], ['-T2', '--block-size=10000'], ['--check=crc32']]) {
      const unpacked = await collect(unxz(pack(text, ...args), text.length))
      t.ok(unpacked.equals(text), `${name} ${args.join(' ')}`)
    }
  }
  const streams = Buffer.concat([pack(TEXT.subarray(0, 7)), pack(TEXT.subarray(7), '-1')])
  t.ok((await collect(unxz(streams, TEXT.length))).equals(TEXT))
})

t.test('concurrent streams are all decompressed, one after the other', async (t) => {
  const texts = Array.from({ length: 6 }, (_, at) => Buffer.from(`text ${at}\n`.repeat(20_000)))
  const all = await Promise.all(texts.map((text) => collect(unxz(pack(text), text.length))))
  t.ok(all.every((unpacked, at) => unpacked.equals(texts[at] ?? Buffer.alloc(0))))
})

t.test('damaged and truncated data is refused at every position', async (t) => {
  const packed = pack(Buffer.from('a package, and then another one'))
  for (let bytes = 0; bytes < packed.length; bytes += 1) {
    await t.rejects(collect(unxz(packed.subarray(0, bytes), MIB)), DAMAGED, `${bytes} bytes`)
    const damaged = Buffer.from(packed)
    damaged[bytes] = (damaged[bytes] ?? 0) ^ 0x55
    await t.rejects(collect(unxz(damaged, MIB)), DAMAGED, `byte ${bytes}`)
  }
  await t.rejects(collect(unxz(Buffer.concat([packed, Buffer.from('text')]), MIB)), DAMAGED)
})

t.test('more output than the limit is refused', async (t) => {
  const limit = TEXT.length - 1
  await t.rejects(collect(unxz(pack(TEXT), limit)), refused(/contains more than 279999/))
  const piece = pack(Buffer.alloc(1 << 26), '-0')
  const bomb = Buffer.concat(Array.from({ length: 16 }, () => piece))
  const before = process.memoryUsage().rss
  await t.rejects(collect(unxz(bomb, 16 * MIB)), refused(/contains more than/))
  t.ok(process.memoryUsage().rss - before < 64 * MIB)
})

t.test('a dictionary of gigabytes is refused without allocating it', async (t) => {
  const before = process.memoryUsage().rss
  const largest = pack(TEXT, '-9')
  for (let count = 0; count < 10; count += 1) {
    t.ok((await collect(unxz(largest, TEXT.length))).equals(TEXT), 'with a dictionary of 64 MiB')
  }
  const packed = pack(TEXT, '-T1')
  t.ok((await collect(unxz(withDictionary(packed, 28), MIB))).equals(TEXT), '64 MiB')
  const sizes = { '96 MiB': 29, '512 MiB': 34, '1536 MiB': 37, '4 GiB': 40 }
  for (const [size, code] of Object.entries(sizes)) {
    await t.rejects(collect(unxz(withDictionary(packed, code), MIB)), DAMAGED, size)
  }
  t.ok(process.memoryUsage().rss - before < 64 * MIB)
})

t.test('a reader that stops early does not block others', async (t) => {
  const packed = pack(Buffer.alloc(1 << 24))
  const leave = async () => {
    for await (const _ of unxz(packed, 1 << 24)) break
  }
  await Promise.all([leave(), leave(), collect(unxz(pack(TEXT), TEXT.length)), leave()])
  t.ok((await collect(unxz(pack(TEXT), TEXT.length))).equals(TEXT))
})

/** Returns the data with another code for the size of the dictionary, and a correct checksum. */
function withDictionary(packed: Buffer, code: number): Buffer {
  const changed = Buffer.from(packed)
  changed[16] = code
  changed.writeUInt32LE(crc32(changed.subarray(12, 20)), 20)
  return changed
}

/** Computes the CRC-32 of xz headers (ISO 3309). */
function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return ~sum >>> 0
}
