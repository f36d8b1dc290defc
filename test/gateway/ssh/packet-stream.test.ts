/** Packets are separated, whatever the chunks are. */

import fc from 'fast-check'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { isFlush, PacketStream, textOf } from '../../../gateway/ssh/packet-stream.js'
import { packetLine } from '../../helpers/git-requests.js'

const isMark = (length: number) => length === 0 || length === 4

/** Creates a stream of these chunks, which all have the same memory. */
function streamOf(...pieces: ReadonlyArray<Uint8Array | string>): PacketStream {
  const left = pieces.map((piece) => Buffer.from(piece))
  const memory = Buffer.alloc(1_024)
  const read = async () => {
    const piece = left.shift()
    memory.fill('x')
    piece?.copy(memory)
    return piece && memory.subarray(0, piece.length)
  }
  return new PacketStream({ read, isMark })
}

t.test('packets are taken up to the one that is searched for, in chunks of any size', async (t) => {
  const lines = [packetLine('one\n'), packetLine('two'), '0004', packetLine('\n')].join('')
  const all = Buffer.from(`${lines}0000${packetLine('done\n')}the rest`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(all.length), { maxLength: 8 }), async (cuts) => {
      const ends = [...cuts, all.length].sort((one, other) => one - other)
      const stream = streamOf(...ends.map((end, at) => all.subarray(ends[at - 1] ?? 0, end)))
      const found = { text: '', count: 0 }
      for (let isEnd = false; !isEnd; ) {
        const packets = await stream.take(isFlush)
        found.text += packets?.bytes.toString('latin1')
        found.count += packets?.count ?? 0
        isEnd = packets?.end !== undefined
      }
      t.same(found, { text: `${lines}0000`, count: 5 })
      const next = await stream.peek()
      t.equal(next && textOf(next), 'done')
      t.equal((await stream.take(() => true))?.bytes.toString(), packetLine('done\n'))
      let rest = ''
      for await (const chunk of stream.rest()) rest += Buffer.from(chunk).toString()
      t.equal(rest, 'the rest')
    }),
    { numRuns: 50 },
  )
})

t.test('a packet that arrives byte by byte is copied a few times at most', async (t) => {
  const packet = packetLine('x'.repeat(65_000))
  const { copy } = Buffer.prototype
  let copiedBytes = 0
  t.teardown(() => {
    Buffer.prototype.copy = copy
  })
  const stream = streamOf(...packet)
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
    copiedBytes += this.length
    return copy.apply(this, args)
  }
  t.equal((await stream.take(isFlush))?.bytes.length, packet.length)
  t.ok(copiedBytes < 4 * packet.length, `${copiedBytes} bytes were copied`)
})

t.test('a stream that ends between two packets has no more', async (t) => {
  t.equal(await streamOf().peek(), undefined)
  const stream = streamOf(packetLine('one'))
  t.equal((await stream.take(isFlush))?.end, undefined)
  t.equal(await stream.take(isFlush), undefined)
})

t.test('a flush differs from an empty line', async (t) => {
  t.equal(isFlush(Buffer.from('0000')), true)
  t.equal(isFlush(Buffer.from('0004')), false)
  t.equal(isFlush(Buffer.from(packetLine('0000'))), false)
})

for (const [what, bytes] of [
  ['data that is not a packet', 'GET / HTTP/1.1'],
  ['an invalid length', 'zzzz'],
  ['a length of three', '0003'],
  ['a mark that the protocol does not have', '0001'],
  ['a packet that is too long', 'fff1'],
  ['an end in the middle of a length', '00'],
  ['an end in the middle of a packet', packetLine('one').slice(0, -1)],
] as const) {
  t.test(`${what} is refused`, async (t) => {
    const error = await streamOf(bytes)
      .take(isFlush)
      .catch((cause: unknown) => cause)
    t.ok(isFailure(error, 'bad_request'))
    const later = streamOf(packetLine('one'), bytes)
    const taken = async () => {
      while ((await later.take(isFlush)) !== undefined);
    }
    t.ok(isFailure(await taken().catch((cause: unknown) => cause), 'bad_request'))
  })
}
