/** Lines of a process's output, in chunks of any size. */

import t from 'tap'
import { LineSplitter } from '../../../gateway/own-runner/line-splitter.js'

function linesOf(chunks: readonly Uint8Array[]): readonly string[] {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  for (const chunk of chunks) splitter.write(chunk)
  splitter.end()
  return lines
}

t.test('lines are the same for each size of chunks', async (t) => {
  const bytes = Buffer.from('first\n\nzweite Zeile: ü€\r\nlast')
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks: Buffer[] = []
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
    t.strictSame(linesOf(chunks), ['first', '', 'zweite Zeile: ü€', 'last'], String(size))
  }
  t.strictSame(linesOf([Buffer.from('a\n')]), ['a'])
  t.strictSame(linesOf([]), [])
})

t.test('a line that never ends takes a bounded part of the memory', async (t) => {
  const chunks = Array.from({ length: 100 }, () => Buffer.alloc(65_536, 'x'))
  const [line = '', ...rest] = linesOf([...chunks, Buffer.from('\nnext\n')])
  t.equal(line.length, 131_072)
  t.strictSame(rest, ['next'])
})
