/** Separately deflated parts form one gzip file. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { crc32, gunzipSync } from 'node:zlib'
import t from 'tap'
import { deflatePart, gzipText } from '../../../registry/archive/gzip-file.js'

/** Returns a gzip file of these parts between two other pieces. */
async function pack(parts: readonly Buffer[]): Promise<Buffer> {
  const whole = Buffer.concat(parts)
  const deflated = Buffer.concat(await Promise.all(parts.map(deflatePart)))
  const sums = { bytes: whole.length, crc32: crc32(whole), count: parts.length, xzBlocks: [] }
  const placed = { name: 'x', form: 'deflated', spans: [] } as const
  const content = gzipText([
    Buffer.from('before '),
    { ...sums, forms: { deflated: placed } },
    Buffer.from(' behind'),
  ])
  return Buffer.concat(content.map((piece) => (piece instanceof Uint8Array ? piece : deflated)))
}

t.test('zlib and gzip decompress one member with all parts', async (t) => {
  for (const count of [0, 1, 2, 50]) {
    const parts = Array.from({ length: count }, (_, at) => randomBytes(at * 1_000))
    const wanted = Buffer.concat([Buffer.from('before '), ...parts, Buffer.from(' behind')])
    const file = await pack(parts)
    t.ok(gunzipSync(file).equals(wanted), `${count} parts`)
    t.ok(execFileSync('gzip', ['-dc'], { input: file, maxBuffer: 1 << 26 }).equals(wanted))
    t.throws(() => gunzipSync(file.subarray(0, -9)), 'a truncated file is refused')
  }
})

t.test('a text without deflated form is a bug', async (t) => {
  const text = { bytes: 1, crc32: 0, count: 1, forms: {}, xzBlocks: [] }
  t.throws(() => gzipText([text]), { message: 'the text has no deflated form' })
})
