/** Message framing that two parsers could read differently is refused first. */

import t from 'tap'
import { framingFault } from '../../../gateway/http/framing.js'

const faultOf = (headers: Readonly<Record<string, string>>) =>
  framingFault(new Map(Object.entries(headers)))
const length = (value: string) => ({ 'content-length': value })
const coding = (value: string) => ({ 'transfer-encoding': value })

t.test('valid framing is accepted', async (t) => {
  t.equal(faultOf({}), undefined)
  t.equal(faultOf({ host: 'x', ...length('0') }), undefined)
  t.equal(faultOf(length('999999999999999')), undefined)
  t.equal(faultOf(coding('chunked')), undefined)
  t.equal(faultOf(coding('Chunked')), undefined)
})

t.test('a Content-Length that is not one number is refused', async (t) => {
  for (const value of [
    '',
    '+5',
    '-1',
    '0x5',
    '5, 5',
    '5, 6',
    '5, ',
    ', 5',
    '5 ',
    '1e3',
    '9'.repeat(16),
    '٣',
  ]) {
    t.equal(faultOf(length(value)), 'Content-Length is not one number.', value)
  }
})

t.test('a Transfer-Encoding other than chunked is refused', async (t) => {
  for (const value of [
    '',
    'xchunked',
    'gzip',
    'chunked, chunked',
    ', chunked',
    'gzip, chunked',
    'chunked ',
  ]) {
    t.equal(faultOf(coding(value)), 'The only supported transfer coding is chunked.', value)
  }
})

t.test('Content-Length and Transfer-Encoding together are refused, in either order', async (t) => {
  const both = 'Content-Length and Transfer-Encoding exclude each other.'
  t.equal(faultOf({ ...length('5'), ...coding('chunked') }), both)
  t.equal(faultOf({ ...coding('chunked'), ...length('0') }), both)
})

t.test('a header with a line break or a zero byte is refused', async (t) => {
  for (const value of ['a\rb', 'a\nb', 'a\u0000b']) {
    t.equal(faultOf({ x: value }), 'A header contains a control character.')
  }
})
