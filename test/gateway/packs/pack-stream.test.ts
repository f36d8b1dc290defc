/** Packs are extracted from their pkt-lines across chunks; other answers are refused. */

import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { NoPack, readPackParts, readPackStream } from '../../../gateway/packs/pack-stream.js'

function packet(content: Uint8Array): Buffer {
  const length = (content.byteLength + 4).toString(16).padStart(4, '0')
  return Buffer.concat([Buffer.from(length), content])
}

const onBand = (band: number, content: Uint8Array) =>
  packet(Buffer.concat([Buffer.of(band), content]))

const BEGINNING = packet(Buffer.from('packfile\n'))
const END = Buffer.from('0000')

async function* inPieces(bytes: Buffer, sizes: readonly number[]) {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function readAll(answer: Uint8Array | AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readPackStream(answer)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

t.test('a pack is extracted without progress messages and empty packets', async (t) => {
  const parts = fc.array(fc.tuple(fc.constantFrom(1, 1, 2), fc.uint8Array({ maxLength: 40 })))
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(parts, sizes, async (parts, sizes) => {
      const packets = parts.map(([band, content]) => onBand(band, content))
      const answer = Buffer.concat([BEGINNING, ...packets, END])
      const pack = Buffer.concat(parts.filter(([band]) => band === 1).map(([, part]) => part))
      const copy = Buffer.from(answer)
      const [streamed, atOnce] = [await readAll(inPieces(answer, sizes)), await readAll(answer)]
      return streamed.equals(pack) && atOnce.equals(pack) && answer.equals(copy)
    }),
  )
  t.pass('in chunks of any size')
})

t.test('an answer in memory is extracted in pieces', async (t) => {
  const pack = randomBytes(2_000_000)
  const packets: Buffer[] = []
  for (let at = 0; at < pack.length; at += 65_515) {
    packets.push(onBand(1, pack.subarray(at, at + 65_515)))
  }
  const answer = Buffer.concat([BEGINNING, ...packets, END])
  let largest = 0
  for await (const { byteLength } of readPackStream(answer)) largest = Math.max(largest, byteLength)
  t.ok(largest <= 524_288)
  t.ok((await readAll(answer)).equals(pack))
})

t.test('a pack is extracted from an answer of protocol version 0', async (t) => {
  const pack = onBand(1, Buffer.from('PACK'))
  const answer = Buffer.concat([packet(Buffer.from('NAK\n')), pack, END])
  const chunks: Buffer[] = []
  for await (const parts of readPackParts(answer, 0)) chunks.push(...parts)
  t.equal(Buffer.concat(chunks).toString(), 'PACK')
  await t.rejects(readAll(answer), NoPack, 'it is not an answer of version 2')
})

t.test('an answer that is not exactly one pack is refused', async (t) => {
  const data = onBand(1, Buffer.from('PACK'))
  const refusal = packet(Buffer.from('ERR upload-pack: not our ref'))
  const answers = {
    'an empty answer': Buffer.alloc(0),
    'a truncated beginning': BEGINNING.subarray(0, 6),
    'a refusal': refusal,
    'a section for a shallow clone': Buffer.concat([packet(Buffer.from('shallow-info\n')), END]),
    'no end': Buffer.concat([BEGINNING, data]),
    'a truncated packet': Buffer.concat([BEGINNING, data.subarray(0, 7)]),
    'an error on its band': Buffer.concat([BEGINNING, data, onBand(3, Buffer.from('gone')), END]),
    'a refusal in the middle': Buffer.concat([BEGINNING, data, refusal, END]),
    'an invalid length': Buffer.concat([BEGINNING, Buffer.from('zzzz\u0001'), END]),
    'a length without a band': Buffer.concat([BEGINNING, Buffer.from('0004\u0001'), END]),
    'more after the end': Buffer.concat([BEGINNING, data, END, data]),
  }
  for (const [name, answer] of Object.entries(answers)) {
    await t.rejects(readAll(answer), NoPack, name)
  }
})
