/** Checks of a zstd frame before decompression: its window, size and blocks (RFC 8878 §3.1.1). */

import { Failure } from '../../conf/failures.js'

const MAGIC = 0xfd2fb528
const WINDOW_BYTES_MAX = 134_217_728
const BLOCK_BYTES_MAX = 131_072

/**
 * Returns a copy of the frame whose window is no larger than `bytesMax` requires. Throws
 * `bad_request` if it is not exactly one complete frame, or needs a dictionary, a window of more
 * than 128 MiB or more than `bytesMax` bytes of output.
 */
export function readZstdFrame(packed: Uint8Array, bytesMax: number): Uint8Array {
  const frame = Buffer.from(packed)
  if (frame.length < 6 || frame.readUInt32LE(0) !== MAGIC) throw damaged()
  const descriptor = frame.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  if ((descriptor & 0x08) !== 0) throw damaged()
  if ((descriptor & 0x03) !== 0) {
    throw new Failure('bad_request', 'The zstd data needs a dictionary: compress it without one.')
  }
  let at = 5
  if (!isSingleSegment) {
    limitWindow(frame, at, bytesMax)
    at += 1
  }
  const sizeBytes = SIZE_BYTES[descriptor >> 6] ?? (isSingleSegment ? 1 : 0)
  const size = frame.subarray(at, at + sizeBytes).reverse()
  if (BigInt(`0x0${size.toString('hex')}`) > BigInt(bytesMax)) throw tooLarge(bytesMax)
  size.reverse()
  const end = endOfBlocks(frame, at + sizeBytes) + ((descriptor & 0x04) === 0 ? 0 : 4)
  if (end !== frame.length) throw damaged()
  return frame
}

/** Size of the field Frame_Content_Size by its flag; for 0 it depends on Single_Segment_flag. */
const SIZE_BYTES: readonly (number | undefined)[] = [undefined, 2, 4, 8]

function limitWindow(frame: Buffer, at: number, bytesMax: number): void {
  const byte = frame.readUInt8(at)
  const base = 2 ** (10 + (byte >> 3))
  const windowBytes = base + (base / 8) * (byte & 7)
  if (windowBytes > WINDOW_BYTES_MAX) {
    const advice = 'compress it with --long=27 or less'
    const message = `The zstd data needs a window of more than 128 MiB: ${advice}.`
    throw new Failure('bad_request', message)
  }
  // Matches never reach farther back than the output, so a smaller window is sufficient.
  const neededBytes = Math.max(bytesMax, BLOCK_BYTES_MAX)
  if (windowBytes > neededBytes) frame[at] = (Math.ceil(Math.log2(neededBytes)) - 10) << 3
}

/** Returns the offset of the end of the last block, where an optional checksum follows. */
function endOfBlocks(frame: Buffer, start: number): number {
  for (let at = start; ; ) {
    if (at + 3 > frame.length) throw damaged()
    const head = frame.readUIntLE(at, 3)
    const kind = (head >> 1) & 3
    const bytes = head >> 3
    if (kind === 3 || bytes > BLOCK_BYTES_MAX) throw damaged()
    // A block of type 1 (RLE) is one byte that is repeated.
    at += 3 + (kind === 1 ? 1 : bytes)
    if ((head & 1) === 1) return at
  }
}

function tooLarge(bytesMax: number): Failure {
  return new Failure('bad_request', `The archive contains more than ${bytesMax} bytes of data.`)
}

function damaged(): Failure {
  return new Failure('bad_request', 'The zstd data is damaged, truncated, or not a single frame.')
}
