/** Gzip files (RFC 1952) composed of parts that were deflated independently. */

import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'
import type { FileContent, IndexText, PlacedText } from '../index-maker.js'
import { appendCrc32 } from './crc32.js'

/** Options with which a part ends at a whole byte and is not the last of its stream. */
const OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH } as const
const deflateAsync = promisify(deflateRaw)

/** Compresses a part of a DEFLATE stream (RFC 1951) that does not refer to earlier parts. */
export async function deflatePart(content: Uint8Array): Promise<Buffer> {
  return await deflateAsync(content, OPTIONS)
}

/** Header: DEFLATE, no file name, no time, Unix. */
const HEADER = Buffer.from([31, 139, 8, 0, 0, 0, 0, 0, 0, 3])
/** Empty last block. */
const END = Buffer.from([3, 0])

/** Returns a file with one member, which contains the parts in order. */
export function gzipText(parts: ReadonlyArray<Uint8Array | IndexText>): FileContent {
  const content: Array<FileContent[number]> = [HEADER]
  let crc = 0
  let bytes = 0
  for (const part of parts) {
    const isText = !(part instanceof Uint8Array)
    content.push(isText ? deflatedOf(part) : deflateRawSync(part, OPTIONS))
    const length = isText ? part.bytes : part.byteLength
    crc = appendCrc32(crc, isText ? part.crc32 : crc32(part), length)
    bytes += length
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(bytes % 2 ** 32, 4)
  return [...content, END, trailer]
}

function deflatedOf({ forms: { deflated } }: IndexText): PlacedText {
  if (deflated === undefined) throw new Error('the text has no deflated form')
  return deflated
}
