/** Separately compressed blocks form one xz file. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findXz } from '../../../cgi/process/xz.js'
import { splitXz, xzText } from '../../../registry/archive/xz-file.js'

async function pack(parts: readonly Buffer[]): Promise<Buffer> {
  const compressXz = findXz()
  if (compressXz === undefined) throw new Error('xz is installed for the tests')
  const blocks: Uint8Array[] = []
  const xzBlocks: Array<{ unpaddedBytes: number; bytes: number }> = []
  for (const part of parts) {
    const { block, unpaddedBytes } = splitXz(await compressXz(part))
    blocks.push(block)
    xzBlocks.push({ unpaddedBytes, bytes: part.length })
  }
  const xz = { name: 'x', form: 'xz', spans: [] } as const
  const content = xzText({ bytes: 0, crc32: 0, count: 0, forms: { xz }, xzBlocks })
  return Buffer.concat(content.flatMap((piece) => (piece instanceof Uint8Array ? [piece] : blocks)))
}

t.test('xz decompresses one stream with all blocks', async (t) => {
  for (const count of [1, 2, 3, 200]) {
    const parts = Array.from({ length: count }, (_, at) =>
      Buffer.from(
        randomBytes(1 + ((at * 37) % 900))
          .toString('hex')
          .repeat(1 + (at % 9)),
      ),
    )
    const input = await pack(parts)
    const unpacked = execFileSync('xz', ['-dc'], { input, maxBuffer: 1 << 26 })
    t.ok(unpacked.equals(Buffer.concat(parts)), `${count} blocks`)
    const path = join(t.testdir(), 'x.xz')
    writeFileSync(path, input)
    const listed = execFileSync('xz', ['--robot', '--list', path])
    t.match(listed.toString(), new RegExp(`^file\\t1\\t${count}\\t`, 'm'))
  }
})

t.test('a stream that xz did not make is a bug', async (t) => {
  t.throws(() => splitXz(Buffer.alloc(100)), { message: 'unexpected xz header' })
  const noText = { bytes: 0, crc32: 0, count: 0, forms: {}, xzBlocks: [] }
  t.throws(() => xzText(noText), { message: 'the text has no xz form' })
})
