/** Boundaries of gzip members are found, whatever the members contain. */

import { crc32, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import type { ByteSource } from '../../../registry/archive/byte-source.js'
import { readGzipMember } from '../../../registry/archive/gzip-members.js'
import { collect } from '../../helpers/byte-chunks.js'
import { sourceOf, sourceWithHole } from '../../helpers/byte-sources.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'

const MIB = 1_048_576
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const DAMAGED = refused(/gzip data is damaged or truncated/)

async function readAll(source: ByteSource, bytesMax = MIB): Promise<readonly Buffer[]> {
  const contents: Buffer[] = []
  for (let start = 0; start < source.bytes; ) {
    const { result, end } = await readGzipMember(source, { start, bytesMax }, collect)
    contents.push(result)
    start = end
  }
  return contents
}

t.test('members of any content and length are separated', async (t) => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 3_000 }),
    fc.nat(200_000).map((length) => new Uint8Array(length)),
  )
  const level = fc.constantFrom(0, 1, 9) as fc.Arbitrary<0 | 1 | 9>
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(content, level), { maxLength: 5 }), async (members) => {
      const packed = members.map(([bytes, level]) => gzipSync(bytes, { level }))
      const found = await readAll(sourceOf(Buffer.concat(packed)))
      t.strictSame(
        found.map((bytes) => bytes.toString('base64')),
        members.map(([bytes]) => Buffer.from(bytes).toString('base64')),
      )
    }),
    { numRuns: 60 },
  )
})

interface HeaderParts {
  readonly flags?: number
  readonly extra?: Buffer
  readonly crc?: number
}

/** Creates a member with a header that common programs do not write. */
function memberWith(
  { flags = 0, extra = Buffer.alloc(0), crc }: HeaderParts,
  text = 'text',
): Buffer {
  const header = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]), extra])
  const sum = Buffer.alloc(2)
  sum.writeUInt16LE(crc ?? crc32(header) & 0xffff)
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(text))
  trailer.writeUInt32LE(text.length, 4)
  return Buffer.concat([header, flags & 2 ? sum : Buffer.alloc(0), deflateRawSync(text), trailer])
}

t.test('a header may have all optional fields', async (t) => {
  const extra = Buffer.from('\x03\0abc')
  const name = Buffer.from('name\0')
  const all = Buffer.concat([extra, name, Buffer.from('comment\0')])
  for (const parts of [
    { flags: 1 },
    { flags: 2 },
    { flags: 4, extra },
    { flags: 8, extra: name },
    { flags: 16, extra: name },
    { flags: 31, extra: all },
  ]) {
    const member = memberWith(parts)
    t.equal(gunzipSync(member).toString(), 'text', 'zlib reads it as well')
    const found = await readAll(sourceOf(Buffer.concat([member, gzipSync('next')])))
    t.strictSame(found.map(String), ['text', 'next'], JSON.stringify(parts))
  }
})

t.test('an invalid header is refused', async (t) => {
  const long = Buffer.alloc(70_000, 'n')
  const broken: Readonly<Record<string, Buffer>> = {
    'not gzip': Buffer.from('<html><body></body></html>'),
    'another method': Buffer.from([0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 3, 3, 0]),
    'reserved flags': memberWith({ flags: 0x20 }),
    'a wrong checksum of the header': memberWith({ flags: 2, crc: 1 }),
    'an extra field that is longer than the file': memberWith({
      flags: 4,
      extra: long.subarray(0, 2),
    }),
    'a name without an end': memberWith({ flags: 8, extra: long }),
    'only the start of one': Buffer.from([0x1f, 0x8b, 8]),
    nothing: Buffer.alloc(0),
  }
  for (const [what, bytes] of Object.entries(broken)) {
    const read = readGzipMember(sourceOf(bytes), { start: 0, bytesMax: MIB }, collect)
    await t.rejects(read, DAMAGED, what)
  }
})

t.test('damaged and truncated members are refused', async (t) => {
  const packed = gzipSync('one package after the other\n'.repeat(1_000))
  for (const bytes of [1, 9, 10, 11, 40, packed.length - 9, packed.length - 8, packed.length - 1]) {
    await t.rejects(readAll(sourceOf(packed.subarray(0, bytes))), DAMAGED, `${bytes} bytes`)
  }
  for (const at of [2, 30, packed.length - 8, packed.length - 4, packed.length - 1]) {
    const damaged = Buffer.from(packed)
    damaged[at] = (damaged[at] ?? 0) ^ 0xff
    await t.rejects(readAll(sourceOf(damaged)), DAMAGED, `byte ${at}`)
  }
  const trailing = Buffer.concat([packed, Buffer.alloc(512)])
  await t.rejects(readAll(sourceOf(trailing)), DAMAGED, 'trailing data')
})

t.test('more output than the limit is refused, whether it is read or not', async (t) => {
  const packed = gzipSync('x'.repeat(1_000))
  t.equal((await readAll(sourceOf(packed), 1_000)).length, 1)
  await t.rejects(readAll(sourceOf(packed), 999), refused(/contains more than 999 bytes/))
  const bomb = await gzipBomb({ head: '', piece: '\0'.repeat(65_536), bytes: 1 << 28 })
  for (const read of [collect, async () => undefined]) {
    const options = { start: 0, bytesMax: MIB }
    await t.rejects(readGzipMember(sourceOf(bomb), options, read), refused(/more than 1048576/))
  }
})

t.test('a reader that stops early does not change where the member ends', async (t) => {
  const first = gzipSync(Buffer.alloc(500_000, 'a'))
  const source = sourceOf(Buffer.concat([first, gzipSync('next')]))
  const options = { start: 0, bytesMax: MIB }
  for (const read of [firstChunk, async () => undefined]) {
    t.equal((await readGzipMember(source, options, read)).end, first.length)
  }
})

async function firstChunk(content: AsyncIterable<Uint8Array>) {
  for await (const chunk of content) return chunk
  return undefined
}

t.test('data after a member is not read, however long it is', async (t) => {
  const first = gzipSync('first')
  let readTo = 0
  const hole = sourceWithHole(first, 2 ** 33, Buffer.alloc(0))
  const source: ByteSource = {
    ...hole,
    async *stream(start = 0, end = hole.bytes) {
      for await (const chunk of hole.stream(start, end)) {
        readTo = start + chunk.length
        start = readTo
        yield chunk
      }
    },
  }
  const before = process.memoryUsage().rss
  const { end } = await readGzipMember(source, { start: 0, bytesMax: MIB }, collect)
  t.equal(end, first.length)
  t.ok(readTo < 32 * MIB, `${readTo} bytes were read`)
  t.ok(process.memoryUsage().rss - before < 128 * MIB)
})

t.test('errors of the source and of the reader are thrown', async (t) => {
  const packed = gzipSync(Buffer.alloc(100_000))
  const source: ByteSource = {
    ...sourceOf(packed),
    // biome-ignore lint/correctness/useYield: a source that fails immediately.
    async *stream() {
      throw new Error('the disk failed')
    },
  }
  const options = { start: 0, bytesMax: MIB }
  await t.rejects(readGzipMember(source, options, collect), { message: 'the disk failed' })
  const leave = async () => {
    throw new Error('enough')
  }
  await t.rejects(readGzipMember(sourceOf(packed), options, leave), { message: 'enough' })
})
