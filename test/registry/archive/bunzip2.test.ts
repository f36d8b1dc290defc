/** Bzip2 is decompressed, and damaged data and bombs are refused. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { bunzip2 } from '../../../registry/archive/bunzip2.js'
import { chunksOf, collect } from '../../helpers/byte-chunks.js'

const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const DAMAGED = refused(/bzip2 data is damaged or truncated/)

function pack(bytes: Buffer, ...args: readonly string[]): Buffer {
  return execFileSync('bzip2', ['--stdout', ...args], { input: bytes, maxBuffer: 1 << 26 })
}

const TEXT = Buffer.from('one package after the other\n'.repeat(10_000))

t.test('data of any kind and number of blocks is decompressed', async (t) => {
  const texts = {
    nothing: Buffer.alloc(0),
    one: Buffer.from('x'),
    text: TEXT,
    runs: Buffer.concat([Buffer.alloc(70_000, 'a'), Buffer.alloc(4, 'b'), Buffer.alloc(259, 'c')]),
    noise: randomBytes(1_200_000),
  }
  for (const [name, text] of Object.entries(texts)) {
    for (const level of ['-1', '-9']) {
      const unpacked = await collect(bunzip2(chunksOf(pack(text, level), 1_000), text.length))
      t.ok(unpacked.equals(text), `${name} ${level}`)
    }
  }
  const streams = Buffer.concat([pack(TEXT.subarray(0, 7)), pack(TEXT.subarray(7), '-1')])
  t.ok((await collect(bunzip2(chunksOf(streams, 11), TEXT.length))).equals(TEXT))
})

t.test('damaged and truncated data is refused at every position', async (t) => {
  const text = Buffer.from('a package, and then another one')
  const packed = pack(text)
  for (const bytes of [0, 1, 3, 4, 9, 14, 50, packed.length - 5, packed.length - 1]) {
    const cut = bunzip2(chunksOf(packed.subarray(0, bytes)), text.length)
    await t.rejects(collect(cut), DAMAGED, `${bytes} bytes`)
  }
  let harmless = 0
  for (let at = 0; at < packed.length; at += 1) {
    for (const bits of [0xff, 0x01, 0x40]) {
      const damaged = Buffer.from(packed)
      damaged[at] = (damaged[at] ?? 0) ^ bits
      const unpacked = await collect(bunzip2(chunksOf(damaged), 1 << 22)).catch((error) => error)
      // Some bits affect neither the text nor its checksums.
      if (Buffer.isBuffer(unpacked) && unpacked.equals(text)) harmless += 1
      else if (unpacked.failure !== 'bad_request') t.fail(`byte ${at}, bits ${bits}`)
    }
  }
  t.ok(harmless < 10, `${harmless} changes had no effect`)
  const garbage = Buffer.concat([packed, Buffer.from('garbage')])
  await t.rejects(collect(bunzip2(chunksOf(garbage), text.length)), DAMAGED, 'trailing garbage')
})

t.test('more output than the limit is refused', async (t) => {
  const limit = TEXT.length - 1
  await t.rejects(
    collect(bunzip2(chunksOf(pack(TEXT)), limit)),
    refused(/contains more than 279999/),
  )

  // 256 MiB of zeros are compressed to 214 bytes.
  const piece = pack(Buffer.alloc(1 << 24))
  const bomb = Buffer.concat(Array.from({ length: 16 }, () => piece))
  let bytes = 0
  const read = async () => {
    for await (const chunk of bunzip2(chunksOf(bomb), 1 << 20)) bytes += chunk.byteLength
  }
  await t.rejects(read(), refused(/contains more than 1048576 bytes/))
  t.ok(bytes <= 1 << 20)
})

t.test('an endless block is refused when it exceeds the maximum size', async (t) => {
  const head = Buffer.concat([Buffer.from('BZh9'), Buffer.from('314159265359', 'hex')])
  let sent = 0
  async function* endless() {
    yield head
    // Alternating bits: a table whose code lengths increase and decrease endlessly.
    for (; sent < 1 << 26; sent += 65_536) yield Buffer.alloc(65_536, 0b10101010)
  }
  await t.rejects(collect(bunzip2(endless(), 1 << 20)), DAMAGED)
  t.ok(sent < 1 << 25, `${sent} bytes`)
})

t.test('an error of the source is thrown, and a reader that stops ends the source', async (t) => {
  const packed = pack(TEXT)
  async function* broken() {
    yield packed.subarray(0, 50)
    throw new Error('the disk failed')
  }
  await t.rejects(collect(bunzip2(broken(), TEXT.length)), { message: /^the disk failed$/ })

  let isEnded = false
  async function* endless() {
    try {
      for (;;) yield packed
    } finally {
      isEnded = true
    }
  }
  for await (const _ of bunzip2(endless(), Number.MAX_SAFE_INTEGER)) break
  t.ok(isEnded)
})
