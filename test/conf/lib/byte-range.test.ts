/** Byte ranges: parsing of the header Range, and parts of a body. */

import t from 'tap'
import { cutRange, readByteRange } from '../../../conf/lib/byte-range.js'

t.test('a Range header is parsed as RFC 9110 says', async (t) => {
  const inputs = {
    'bytes=0-': { start: 0, end: 10 },
    'bytes=4-': { start: 4, end: 10 },
    'bytes=4-4': { start: 4, end: 5 },
    'bytes=0-9': { start: 0, end: 10 },
    'bytes=8-99': { start: 8, end: 10 },
    'bytes=-3': { start: 7, end: 10 },
    'bytes=-99': { start: 0, end: 10 },
  }
  for (const [header, range] of Object.entries(inputs)) {
    t.strictSame(readByteRange(header, 10), range, header)
  }
})

t.test('without a valid Range header the whole body is sent', async (t) => {
  for (const header of [
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,4-5',
    'lines=1-2',
    'bytes=1-2 ',
    'bytes= 1-2',
    'bytes=0x1-2',
    `bytes=${'9'.repeat(16)}-`,
  ]) {
    t.equal(readByteRange(header, 10), undefined, header ?? 'none')
  }
})

t.test('an unsatisfiable range is distinguished from a missing one', async (t) => {
  for (const header of ['bytes=10-', 'bytes=11-12', 'bytes=-0']) {
    t.equal(readByteRange(header, 10), 'outside', header)
  }
  t.equal(readByteRange('bytes=0-', 0), 'outside', 'of an empty body')
})

t.test('a part of a body is cut from chunks of any size', async (t) => {
  const text = '0123456789'
  async function* chunks(size: number) {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
  }
  for (const size of [1, 3, 5, 10]) {
    for (let start = 0; start < text.length; start += 1) {
      for (let end = start + 1; end <= text.length; end += 1) {
        let part = ''
        for await (const chunk of cutRange(chunks(size), { start, end })) part += chunk.toString()
        if (part !== text.slice(start, end)) t.fail(`${start} to ${end} of chunks of ${size}`)
      }
    }
    t.pass(`chunks of ${size}`)
  }
})
