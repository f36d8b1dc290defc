/** Frames of zstd are checked before anything is decompressed. */

import t from 'tap'
import { readZstdFrame } from '../../../registry/archive/zstd-frame.js'
import { pack } from '../../helpers/debs.js'

const MIB = 1 << 20
const refused = (message: RegExp) => ({ failure: 'bad_request', message })
const DAMAGED = refused(/damaged, truncated, or not a single frame/)

/**
 * Creates a frame of magic number, descriptor, the rest of the header, and one empty last block.
 */
function frameOf(descriptor: number, rest: string, blocks = '010000'): Buffer {
  const byte = descriptor.toString(16).padStart(2, '0')
  return Buffer.from(`28b52ffd${byte}${rest}${blocks}`, 'hex')
}

t.test('a frame within the limit is unchanged', async (t) => {
  for (const args of [['-1'], ['-19'], ['--no-check'], ['--stream-size=12']]) {
    const packed = pack(Buffer.from('hello world\n'), '.zst', ...args)
    t.strictSame(readZstdFrame(packed, 16 * MIB), packed, args.join(' '))
  }
})

t.test('the window is reduced to the limit, and a huge one is refused', async (t) => {
  const windowOf = (byte: string) => readZstdFrame(frameOf(0, byte), 16 * MIB)[5]
  t.equal(windowOf('70'), 0x70, '16 MiB')
  t.equal(windowOf('71'), 0x70, '18 MiB')
  t.equal(windowOf('88'), 0x70, '128 MiB')
  for (const byte of ['89', '90', 'ff']) t.throws(() => windowOf(byte), refused(/128 MiB/), byte)
  t.equal(readZstdFrame(frameOf(0, '70'), 1)[5], 0x38, 'a window has space for one block')
})

t.test('a content size beyond the limit is refused in each of its encodings', async (t) => {
  const sizes: ReadonlyArray<readonly [number, string, number]> = [
    [0x20, '05', 5],
    [0x60, '0500', 261],
    [0xa0, '05000100', 65_541],
    [0xe0, '0500000001000000', 2 ** 32 + 5],
  ]
  for (const [descriptor, field, size] of sizes) {
    const frame = frameOf(descriptor, field)
    // A field of two bytes starts counting at 256, which does not matter here.
    t.ok(readZstdFrame(frame, size))
    t.throws(
      () => readZstdFrame(frame, Math.min(size - 1, 4)),
      refused(/contains more than/),
      field,
    )
  }
})

t.test('anything but one complete frame is refused', async (t) => {
  const broken = {
    nothing: Buffer.alloc(0),
    'another magic': Buffer.from('28b52ffe0070010000', 'hex'),
    'a frame to be skipped': Buffer.from('502a4d180400000000000000', 'hex'),
    'a reserved bit': frameOf(0x08, '70'),
    'no block': frameOf(0, '70', ''),
    'no last block': frameOf(0, '70', '000000'),
    'a block of no kind': frameOf(0, '70', '070000'),
    'a block that is too large': frameOf(0, '70', '0b0010aa'),
    'a block that is cut off': frameOf(0, '70', '210000aa'),
    'no checksum': frameOf(0x04, '70'),
    'a second frame': Buffer.concat([frameOf(0, '70'), frameOf(0, '70')]),
  }
  for (const [name, frame] of Object.entries(broken)) {
    t.throws(() => readZstdFrame(frame, 16 * MIB), DAMAGED, name)
  }
  t.throws(() => readZstdFrame(frameOf(0x01, '7001'), 16 * MIB), refused(/needs a dictionary/))
})
