/** Much text in few bytes: what a server meets that unpacks before it counts. */

import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface GzipBomb {
  /** What comes first, once. */
  readonly head: string
  /** What follows again and again. */
  readonly piece: string
  /** About how much it is unpacked. */
  readonly bytes: number
}

/** Pieces are compressed together up to about so many bytes, once. */
const GROUP_BYTES = 1_048_576

/** RFC 1952, 2.3.1: deflate, without a name or a time, made on Unix. */
const GZIP_HEADER = Buffer.from('1f8b0800000000000003', 'hex')

/**
 * Returns one gzip member that holds it all. After a full flush the compressor refers to nothing
 * before it, so the same compressed bytes may follow again and again.
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
