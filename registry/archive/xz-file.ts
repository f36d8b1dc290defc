/** An xz file (The .xz File Format 1.1.0) put together from blocks that were made one by one. */

import { crc32 } from 'node:zlib'
import type { FileContent, IndexText, XzBlock } from '../index-maker.js'

/** One stream, whose blocks have a CRC64 each: what the program makes unless told otherwise. */
const FLAGS = Buffer.from([0, 4])
const HEADER = Buffer.concat([Buffer.from('fd377a585a00', 'hex'), FLAGS, checksumOf(FLAGS)])
const FOOTER_BYTES = 12
const FOOTER_MAGIC = Buffer.from('YZ')

export interface SplitXz {
  readonly block: Uint8Array
  /** As an index tells it. */
  readonly unpaddedBytes: number
}

/** The one block of a stream that the program has made. Throws an Error when it is not such. */
export function splitXz(stream: Uint8Array): SplitXz {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength)
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) throw new Error('xz made no such stream')
  const footer = bytes.length - FOOTER_BYTES
  // In units of four bytes, less one.
  const indexBytes = (bytes.readUInt32LE(footer + 4) + 1) * 4
  const index = bytes.subarray(footer - indexBytes, footer)
  if (index[0] !== 0 || index[1] !== 1) throw new Error('xz made more than one block')
  const unpaddedBytes = readNumber(index, 2)
  return { block: bytes.subarray(HEADER.length, footer - indexBytes), unpaddedBytes }
}

/** A file of one stream that holds a text. */
export function xzText({ forms: { xz }, xzBlocks }: IndexText): FileContent {
  if (xz === undefined) throw new Error('a text is not there in xz')
  return [HEADER, xz, endOf(xzBlocks)]
}

/** The index with a record for each block, and the footer. */
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

/** Seven bits in each byte, the lowest first; the eighth says that there are more. */
function numberOf(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...numberOf(Math.floor(value / 128))]
}

function readNumber(bytes: Buffer, start: number): number {
  const byte = bytes.readUInt8(start)
  return byte < 128 ? byte : byte - 128 + 128 * readNumber(bytes, start + 1)
}
