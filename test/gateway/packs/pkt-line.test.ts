/** Pkt-lines: parsed if they are exactly one request. */

import fc from 'fast-check'
import t from 'tap'
import {
  type Packet,
  PacketReader,
  packetLine,
  readPackets,
  readSections,
} from '../../../gateway/packs/pkt-line.js'

const read = (text: string) => readSections(Buffer.from(text, 'latin1'))

t.test('lines are before or after the delimiter, without their newlines', async (t) => {
  t.strictSame(read('0009head\n0008tail00010009tail\n0000'), {
    head: ['head', 'tail'],
    tail: ['tail'],
  })
  t.strictSame(read('0000'), { head: [], tail: [] })
  t.strictSame(read('00010000'), { head: [], tail: [] })
  t.strictSame(
    read('0006\n\n0000'),
    { head: ['\n'], tail: [] },
    'one newline is removed, as by git',
  )
  t.strictSame(read('0005\xff0000'), { head: ['\xff'], tail: [] }, 'bytes become characters')
})

t.test('bytes that are not exactly one request are not parsed', async (t) => {
  const faults = {
    'no bytes': '',
    'no flush': '0008line',
    'bytes behind the flush': '0008line00000',
    'a second request behind the flush': '0008line00000008line0000',
    'a second delimiter': '0008line000100010000',
    'the end of a response': '0008line0002',
    'a length of three': '00030000',
    'an empty line': '00040000',
    'a line longer than the body': '0fffline0000',
    'an invalid length': '00g8line0000',
    'a length in capital letters': `000A${'x'.repeat(6)}0000`,
    'a length with a sign': '+008line0000',
    'a length with a blank': ' 008line0000',
    'a truncated length': '0008line000',
    'a line longer than git sends': `fff1${'x'.repeat(0xfff1 - 4)}0000`,
  }
  for (const [fault, body] of Object.entries(faults)) t.equal(read(body), undefined, fault)
  t.equal(
    read(`fff0${'x'.repeat(0xfff0 - 4)}0000`)?.head[0]?.length,
    0xfff0 - 4,
    'the longest line',
  )
})

t.test('a packet that arrives byte by byte is copied once', async (t) => {
  const body = Buffer.from(packetLine('x'.repeat(60_000)))
  const { concat } = Buffer
  t.teardown(() => {
    Buffer.concat = concat
  })
  let copiedBytes = 0
  Buffer.concat = (parts, length) => {
    const whole = concat(parts, length)
    copiedBytes += whole.length
    return whole
  }
  const reader = new PacketReader()
  let packets = 0
  for (const at of body.keys()) packets += reader.push(body.subarray(at, at + 1))?.length ?? 0
  t.equal(packets, 1)
  t.ok(copiedBytes < 1.1 * body.length, `${copiedBytes} bytes were copied`)
})

t.test('packets that arrive in any pieces are the same', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 50 })
  const packet = fc.oneof(
    bytes.map((some) => packetLine(Buffer.from(some).toString('latin1'))),
    fc.constantFrom('0000', '0001', '0002', '0004', '00'),
  )
  fc.assert(
    fc.property(fc.array(packet), fc.array(fc.nat(200)), (packets, cuts) => {
      const body = Buffer.from(packets.join(''), 'latin1')
      const reader = new PacketReader()
      const read: Packet[] = []
      const ends = [...cuts.filter((cut) => cut < body.length).toSorted((a, b) => a - b)]
      for (const [at, end] of [...ends, body.length].entries()) {
        const found = reader.push(body.subarray(at === 0 ? 0 : ends[at - 1], end))
        if (found === undefined) {
          t.equal(readPackets(body), undefined)
          return
        }
        read.push(...found)
      }
      t.strictSame(readPackets(body), reader.isBetween ? read : undefined)
    }),
  )
})

t.test('written lines are read back unchanged', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 50 })
  const line = bytes.map((some) => `${Buffer.from(some).toString('latin1')}\n`)
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (head, tail) => {
      const body = `${head.map(packetLine).join('')}0001${tail.map(packetLine).join('')}0000`
      const chomped = (lines: readonly string[]) => lines.map((text) => text.slice(0, -1))
      t.strictSame(read(body), { head: chomped(head), tail: chomped(tail) })
    }),
  )
})

t.test('arbitrary bytes do not throw', async () => {
  const digits = fc.constantFrom('0000', '0001', '0002', '0004', '0008', '000c', '0g00', 'line')
  const nearly = fc.array(digits).map((parts) => Buffer.from(parts.join('')))
  const anything = fc.uint8Array().map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.oneof(nearly, anything), (body) => {
      const sections = readSections(body)
      if (sections !== undefined) t.equal(body.toString('latin1').slice(-4), '0000')
    }),
  )
})
