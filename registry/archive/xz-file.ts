/** Xz files (The .xz File Format 1.1.0) composed of blocks that were compressed independently. */

import { crc32 } from 'node:zlib'
import type { FileContent, IndexText, XzBlock } from '../index-maker.js'

/** Stream flags: each block has a CRC64, the default of the program xz. */
const FLAGS = Buffer.from([0, 4])
const HEADER = Buffer.concat([Buffer.from('fd377a585a00', 'hex'), FLAGS, checksumOf(FLAGS)])
const FOOTER_BYTES = 12
const FOOTER_MAGIC = Buffer.from('YZ')

export interface SplitXz {
  readonly block: Uint8Array
  /** Unpadded size of the block, for the record in the index. */
  readonly unpaddedBytes: number
}

/** Returns the only block of a stream that xz wrote. Throws an Error for any other stream. */
export function splitXz(stream: Uint8Array): SplitXz {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength)
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) throw new Error('unexpected xz header')
  const footer = bytes.length - FOOTER_BYTES
  // The footer stores the size in units of four bytes, minus one.
  const indexBytes = (bytes.readUInt32LE(footer + 4) + 1) * 4
  const index = bytes.subarray(footer - indexBytes, footer)
  if (index[0] !== 0 || index[1] !== 1) throw new Error('xz wrote more than one block')
  const unpaddedBytes = readNumber(index, 2)
  return { block: bytes.subarray(HEADER.length, footer - indexBytes), unpaddedBytes }
}

/** Returns a file with one stream, which contains a text. */
export function xzText({ forms: { xz }, xzBlocks }: IndexText): FileContent {
  if (xz === undefined) throw new Error('the text has no xz form')
  return [HEADER, xz, endOf(xzBlocks)]
}

/** Returns the index, with a record for each block, and the footer. */
function endOf(blocks: readonly XzBlock[]): Buffer {
  const records = blocks.flatMap(({ unpaddedBytes, bytes }) => [
    ...numberOf(unpaddedBytes),
    ...numberOf(bytes),
  ])
  const index = [0, ...numberOf(blocks.length), ...records]
  while (index.length % 4 !== 0) index.push(0)
  const summed = Buffer.from(index)
  const backward = Buffer.alloc(4)
  backward.writeUInt32LE((summed.length + 4) / 4 - 1)
  const last = Buffer.concat([backward, FLAGS])
  return Buffer.concat([summed, checksumOf(summed), checksumOf(last), last, FOOTER_MAGIC])
}

function checksumOf(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(bytes))
  return sum
}

/** Encodes a number in 7 bits per byte, lowest first; the eighth bit marks a continuation. */
function numberOf(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...numberOf(Math.floor(value / 128))]
}

function readNumber(bytes: Buffer, start: number): number {
  const byte = bytes.readUInt8(start)
  return byte < 128 ? byte : byte - 128 + 128 * readNumber(bytes, start + 1)
}
