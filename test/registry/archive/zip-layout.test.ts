/** Layout of a zip: entries lie where the directory says, without gaps and overlaps. */

import { crc32 } from 'node:zlib'
import t from 'tap'
import {
  extraField,
  type HandMadeEntry,
  handMadeZip,
  longs,
  zipRefusal,
} from '../../helpers/zips.js'

const A: HandMadeEntry = { path: 'a', content: 'alpha' }
const B: HandMadeEntry = { path: 'b', content: 'beta'.repeat(99), both: { method: 8 } }
const JUNK = Buffer.from('junk')

t.test('a local header must agree with the directory', async (t) => {
  const late = { flags: 8 }
  const description = (entry: HandMadeEntry, ...fields: readonly number[]) => ({
    ...entry,
    both: { ...entry.both, ...late },
    local: { crc32: 0, compressedBytes: 0, bytes: 0 },
    after: Buffer.from(Uint32Array.from(fields).buffer),
  })
  const sum = crc32('alpha')
  const taken = [
    { ...A, local: { flags: 2 } },
    description(A, 0x08074b50, sum, 5, 5),
    description(A, sum, 5, 5),
    description(A, 0x08074b50, sum, 5, 0, 5, 0),
    description(A, sum, 5, 0, 5, 0),
    { ...A, both: { extra: Buffer.from([1, 2, 3]) } },
    { ...A, local: { extra: extraField(0x7075, Buffer.from('\x01\0\0\0\0a')) } },
    {
      ...A,
      local: { compressedBytes: -1 >>> 0, bytes: -1 >>> 0, extra: extraField(1, longs(5, 5)) },
    },
  ]
  for (const [at, entry] of taken.entries()) {
    t.equal(await zipRefusal(handMadeZip([entry, B])), 'taken', `${at}`)
  }
  const other = Buffer.from('b')
  const contradictions: readonly HandMadeEntry[] = [
    { ...A, local: { name: other } },
    { ...A, local: { name: Buffer.from('../a') } },
    { ...A, local: { method: 8 } },
    { ...A, local: { crc32: 1 } },
    { ...A, local: { bytes: 6 } },
    { ...A, local: { bytes: 0, compressedBytes: 0 } },
    { ...A, local: { compressedBytes: 4 } },
    { ...A, local: { flags: 1 } },
    { ...A, local: { bytes: -1 >>> 0, extra: extraField(1, longs(6)) } },
    { ...A, local: { bytes: -1 >>> 0, extra: extraField(1, Buffer.alloc(4)) } },
    { ...A, both: { extra: extraField(0x7075, Buffer.from('\x01\0\0\0\0b')) } },
    { ...A, local: { extra: extraField(0x7075, Buffer.from('\x01\0\0\0\0b')) } },
    { ...A, local: { extra: Buffer.from([1, 0, 9, 0]) } },
    { ...A, both: { extra: Buffer.from([1, 0, 9, 0]) } },
    { ...A, both: { extra: Buffer.concat([1, 1].map((kind) => extraField(kind, longs(5, 5)))) } },
    description(A, 0x08074b50, sum, 5, 6),
    description(A, 0x08074b50, 1, 5, 5),
    description(A, 0x08074b50, 0, 0, 0),
    description(A, 0x08074b51, sum, 5, 5),
    description(A, sum, 5, 1, 5, 0),
    description(A),
    description(A, 0x08074b50, sum, 5, 5, 0, 0, 0),
    { ...A, central: { extra: Buffer.concat([1, 1].map((kind) => extraField(kind, JUNK))) } },
    { ...A, after: JUNK },
    { ...A, central: { start: 1 } },
    { ...A, central: { start: 0x7fff_ffff } },
    { ...A, central: { compressedBytes: 500, bytes: 500 } },
    { ...A, both: { bytes: 500_000, compressedBytes: 500_000 } },
    { ...B, both: { method: 8, compressedBytes: 500_000 } },
  ]
  for (const [at, entry] of contradictions.entries()) {
    t.not(await zipRefusal(handMadeZip([entry, B])), 'taken', `${at}`)
  }
})

t.test('overlapping entries are refused', async (t) => {
  const [inner, outer] = [handMadeZip([A]).subarray(0, 36), handMadeZip([B])]
  const start = 31
  const nested = handMadeZip([
    { path: 'b', data: inner, content: inner },
    { ...A, central: { start } },
  ])
  t.match(await zipRefusal(nested), /overlap, or there is data between/)
  const twice = handMadeZip([B, { ...B, path: 'c', central: { start: 0, name: Buffer.from('c') } }])
  t.match(await zipRefusal(twice), /overlap, or there is data between/)
  t.equal(await zipRefusal(handMadeZip([{ path: 'inner.zip', content: outer }])), 'taken')
})

t.test('an entry that begins where the directory begins is refused', async (t) => {
  const whole = handMadeZip([A])
  for (const bytes of [0, 10, 30, 35]) {
    const cut = Buffer.concat([whole.subarray(0, bytes), whole.subarray(36)])
    cut.writeUInt32LE(bytes, cut.length - 6)
    t.match(await zipRefusal(cut), /overlap, or there is data between/, `${bytes}`)
  }
})

t.test('each entry must begin with a local header', async (t) => {
  const zip = handMadeZip([A, B])
  for (const at of [0, 3, 36, 39]) {
    const changed = Buffer.from(zip)
    changed[at] = 0
    t.match(await zipRefusal(changed), /overlap, or there is data between/, `${at}`)
  }
})
