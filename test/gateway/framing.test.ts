/** Framing that two readers could take for different requests is refused before anything else. */

import t from 'tap'
import { framingFault } from '../../gateway/framing.js'

const length = (value: string) => ['content-length', value] as const
const coding = (value: string) => ['transfer-encoding', value] as const

t.test('plain framing passes', async (t) => {
  t.equal(framingFault([]), undefined)
  t.equal(framingFault([['host', 'x'], length('0')]), undefined)
  t.equal(framingFault([length('999999999999999')]), undefined)
  t.equal(framingFault([coding('chunked')]), undefined)
  t.equal(framingFault([coding('Chunked')]), undefined)
})

t.test('a length that is not one number is refused', async (t) => {
  for (const value of ['', '+5', '-1', '0x5', '5, 5', '5 ', '1e3', '9'.repeat(16), '٣']) {
    t.equal(framingFault([length(value)]), 'Content-Length is not a number.', value)
  }
  for (const second of ['5', '6', '']) {
    t.equal(framingFault([length('5'), length(second)]), 'Content-Length is repeated.')
  }
})

t.test('a coding that is not chunked alone is refused', async (t) => {
  for (const value of ['', 'xchunked', 'gzip', 'chunked, chunked', 'gzip, chunked', 'chunked ']) {
    t.equal(framingFault([coding(value)]), 'The only transfer coding taken is chunked.', value)
  }
  const twice = [coding('chunked'), coding('chunked')]
  t.equal(framingFault(twice), 'Transfer-Encoding is repeated.')
})

t.test('a length and a coding together are refused, in either order', async (t) => {
  const both = 'Content-Length and Transfer-Encoding exclude each other.'
  t.equal(framingFault([length('5'), coding('chunked')]), both)
  t.equal(framingFault([coding('chunked'), length('0')]), both)
})

t.test('a header with a line break or a zero byte is refused', async (t) => {
  for (const value of ['a\rb', 'a\nb', 'a\u0000b']) {
    t.equal(framingFault([['x', value]]), 'A header holds a control character.')
  }
})
