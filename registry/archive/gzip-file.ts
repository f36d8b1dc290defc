/** A gzip file (RFC 1952) put together from parts that were deflated each for itself. */

import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'
import type { FileContent, IndexText, PlacedText } from '../index-maker.js'
import { appendCrc32 } from './crc32.js'

/** Ends at a whole byte, and lets another part follow. */
const OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH } as const
const deflateAsync = promisify(deflateRaw)

/** A part of a DEFLATE stream (RFC 1951) that refers to nothing before it. */
export async function deflatePart(content: Uint8Array): Promise<Buffer> {
  return await deflateAsync(content, OPTIONS)
}

/** DEFLATE; nothing of a name or a time; made on Unix. */
const HEADER = Buffer.from([31, 139, 8, 0, 0, 0, 0, 0, 0, 3])
/** An empty last block. */
const END = Buffer.from([3, 0])

/** A file of one member that holds bytes and texts, one behind the other. */
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
  if (deflated === undefined) throw new Error('a text is not there deflated')
  return deflated
}
