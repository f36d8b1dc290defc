/** Zstandard frames (RFC 8878 §3.1.1) that no compressor would write. */

/** Magic number, frame header descriptor, and window descriptor of 16 MiB. */
const HEAD = Buffer.from('28b52ffd0070', 'hex')

function blockHead(kind: number, bytes: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(3)
  head.writeUIntLE((bytes << 3) | (kind << 1) | Number(isLast), 0, 3)
  return head
}

const BLOCK_BYTES = 131_072

/** Returns a frame that unpacks to about `bytes` zeros, with four bytes per 128 KiB. */
export function zstdFrameOfZeros(bytes: number): Buffer {
  const piece = Buffer.concat([blockHead(1, BLOCK_BYTES, false), Buffer.alloc(1)])
  const last = Buffer.concat([blockHead(1, BLOCK_BYTES, true), Buffer.alloc(1)])
  const count = Math.ceil(bytes / BLOCK_BYTES) - 1
  return Buffer.concat([HEAD, ...Array.from({ length: count }, () => piece), last])
}

/** Returns a frame of `count` raw blocks with `bytes` zeros each. */
export function zstdFrameOfBlocks(count: number, bytes: number): Buffer {
  const piece = Buffer.concat([blockHead(0, bytes, false), Buffer.alloc(bytes)])
  return Buffer.concat([HEAD, ...Array(count).fill(piece), blockHead(0, 0, true)])
}

/**
 * Returns a frame that ends with a short block of the maximum number of sequences, each of which is
 * the longest match and takes no bits. Zeros precede it in a raw block of `before` bytes.
 */
export function busyZstdFrame(before = 0): Buffer {
  const literals = Buffer.from([0x00])
  const sequences = Buffer.from([0xff, 0xff, 0xff])
  // All three codes are in RLE mode: no literals, offset 1, the longest match.
  const modes = Buffer.from([0x54, 0, 0, 52])
  const block = Buffer.concat([literals, sequences, modes, Buffer.from([0x01])])
  const zeros = Buffer.concat([blockHead(0, before, false), Buffer.alloc(before)])
  return Buffer.concat([HEAD, zeros, blockHead(2, block.length, true), block])
}
