/** End of a zip file: exactly one directory and one end record, which are consistent. */

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openZip } from '../../../registry/archive/zip.js'
import { sourceWithHole } from '../../helpers/byte-sources.js'
import { type HandMadeEntry, handMadeZip, longEnd, zipOf, zipRefusal } from '../../helpers/zips.js'

const A: HandMadeEntry = { path: 'a', content: 'alpha' }
const B: HandMadeEntry = { path: 'b', content: 'beta'.repeat(99), both: { method: 8 } }
const JUNK = Buffer.from('junk')

t.test('a file that is not a zip is refused', async (t) => {
  const zip = await zipOf({ a: 'alpha', 'b/c': 'x'.repeat(500) })
  const others = [Buffer.alloc(0), Buffer.from('PK'), Buffer.from('hello'), randomBytes(100_000)]
  for (const other of [...others, zip.subarray(0, -1), zip.subarray(0, 100)]) {
    t.match(await zipRefusal(other), /not a zip archive or is truncated/)
  }
  t.not(await zipRefusal(zip.subarray(1)), 'taken')
})

t.test('a zip has one directory and one end record', async (t) => {
  const honest = handMadeZip([A, B])
  t.equal(await zipRefusal(honest), 'taken')
  t.equal(await zipRefusal(handMadeZip([A, B], { comment: Buffer.from('0123') })), 'taken')
  const refused: ReadonlyArray<readonly [Buffer, RegExp]> = [
    [handMadeZip([A], { after: JUNK }), /data after its end record/],
    [handMadeZip([], { before: JUNK }), /overlap, or there is data between/],
    [handMadeZip([A], { before: JUNK }), /overlap, or there is data between/],
    [Buffer.concat([JUNK, honest]), /central directory .* is not where the end record says/],
    [handMadeZip([A], { beforeDirectory: JUNK }), /overlap, or there is data between/],
    [handMadeZip([A], { afterDirectory: JUNK }), /not where the end record says/],
    [Buffer.concat([honest, handMadeZip([A])]), /not where the end record says/],
    [Buffer.concat([honest, honest.subarray(-22)]), /not where the end record says/],
    [handMadeZip([A], { comment: Buffer.from('PK\x05\x06') }), /several end records/],
    [handMadeZip([A], { comment: honest.subarray(-22) }), /not where the end record says/],
    [handMadeZip([A, B], { end: { entries: 1 } }), /does not end with its last entry/],
    [handMadeZip([A, B], { end: { entries: 3 } }), /central directory .* is malformed/],
    [handMadeZip([A], { end: { disk: 1 } }), /split into several files/],
    [handMadeZip([A], { end: { entriesHere: 0 } }), /split into several files/],
    [handMadeZip([A], { end: { commentBytes: 1 } }), /data after its end record/],
    [handMadeZip([A], { end: { directoryStart: 0 } }), /not where the end record says/],
    [handMadeZip([A], { end: { directoryBytes: 0xffff_ffff } }), /not where the end record says/],
    [handMadeZip([A], { afterDirectory: longEnd(0, {}) }), /zip64 end record/],
  ]
  for (const [bytes, sentence] of refused) t.match(await zipRefusal(bytes), sentence)
})

t.test('the two end records of a zip64 must agree', async (t) => {
  const plain = handMadeZip([A])
  const directoryBytes = plain.length - 22 - 36
  const end = { entries: 1, directoryStart: 36, directoryBytes }
  const zip = (long: Record<string, number>, short = {}, start = 36 + directoryBytes) =>
    handMadeZip([A], { afterDirectory: longEnd(start, { ...end, ...long }), end: short })
  t.equal(await zipRefusal(zip({})), 'taken')
  const sentinel = { entries: 0xffff, directoryStart: 0xffff_ffff, directoryBytes: 0xffff_ffff }
  t.equal(await zipRefusal(zip({}, sentinel)), 'taken')
  t.match(await zipRefusal(zip({ entries: 2 })), /contradict each other/)
  t.match(await zipRefusal(zip({ entries: 2 }, sentinel)), /central directory .* is malformed/)
  t.match(await zipRefusal(zip({ directoryStart: 35 }, sentinel)), /not where the end record/)
  t.match(await zipRefusal(zip({ directoryBytes: 2 ** 60 }, sentinel)), /not where the end record/)
  t.match(await zipRefusal(zip({}, sentinel, 7)), /zip64 end record/)
  for (const at of [16, 20, 24, 60, 72]) {
    const part = longEnd(36 + directoryBytes, end)
    part[at] = (part[at] ?? 0) + 1
    const bytes = handMadeZip([A], { afterDirectory: part, end: {} })
    t.match(await zipRefusal(bytes), /split into several files/, `${at}`)
  }
})

t.test(
  'a zip with too many entries or too long names is refused before they are read',
  async (t) => {
    const end = (entries: number, directoryBytes: number) => {
      const directoryStart = 36
      const long = longEnd(36 + directoryBytes, { entries, directoryStart, directoryBytes })
      const short = handMadeZip([], { end: { entries: 0xffff, directoryStart, directoryBytes } })
      return sourceWithHole(Buffer.alloc(36), directoryBytes, Buffer.concat([long, short]))
    }
    await t.rejects(openZip(end(100_001, 4_700_000)), /more than 100000 entries/)
    await t.rejects(openZip(end(1_000, 16_777_217)), /exceeds 16 MiB/)
    await t.rejects(openZip(end(1_000, 16_777_216)), /central directory .* is malformed/)
  },
)
