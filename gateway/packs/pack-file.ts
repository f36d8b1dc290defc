/** The file of an answer of git that is kept: its bytes, and checksums that tell damage. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readChunks } from '../../conf/read-buffers.js'

/**
 * After the answer stand a checksum of each piece, then the answer's length, a mark, and a checksum
 * of these: a file that was cut, or of which a part was lost, is told before any of it is sent.
 */
const PIECE_BYTES = 65_536
const MARK = 0x47_48_50_31
const CHECKSUM_BYTES = 4
const FOOTER_BYTES = 16

/** A kept answer, open; to be closed once. */
export interface PackFile {
  readonly file: number
  readonly bytes: number
  /** Of each piece. */
  readonly checksums: Buffer
  /** Which file this is, and in which state: equal for one that nobody has touched. */
  readonly identity: string
}

/** That a file does not hold what was once written to it. */
export class DamagedPack extends Error {
  override readonly name = 'DamagedPack'
}

/** Ends a file of that many bytes with its checksums. */
export async function sealPack(path: string, bytes: number): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    const end = Buffer.alloc(Math.ceil(bytes / PIECE_BYTES) * CHECKSUM_BYTES + FOOTER_BYTES)
    let piece = 0
    for await (const chunk of answerOf(handle.fd, bytes)) {
      for (const part of piecesOf(chunk)) {
        end.writeUInt32LE(crc32(part), piece * CHECKSUM_BYTES)
        piece += 1
      }
    }
    const footer = end.subarray(-FOOTER_BYTES)
    footer.writeDoubleLE(bytes, 0)
    footer.writeUInt32LE(MARK, 8)
    footer.writeUInt32LE(crc32(end.subarray(0, -CHECKSUM_BYTES)), 12)
    await handle.write(end, 0, end.length, bytes)
  } finally {
    await handle.close()
  }
}

/** Opens a kept answer. Undefined when there is none; throws DamagedPack for what is not whole. */
export function openPack(path: string): PackFile | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const { ino, size, mtimeMs } = fstatSync(file)
    const footer = Buffer.alloc(FOOTER_BYTES)
    readSync(file, footer, 0, FOOTER_BYTES, Math.max(0, size - FOOTER_BYTES))
    const bytes = footer.readUInt32LE(8) === MARK ? footer.readDoubleLE(0) : Number.NaN
    const endBytes = Math.ceil(bytes / PIECE_BYTES) * CHECKSUM_BYTES + FOOTER_BYTES
    if (bytes + endBytes !== size)
      throw new DamagedPack(`${path} does not have the length in its trailer`)
    const end = Buffer.alloc(endBytes)
    readSync(file, end, 0, endBytes, bytes)
    if (crc32(end.subarray(0, -CHECKSUM_BYTES)) !== footer.readUInt32LE(12)) {
      throw new DamagedPack(`the trailer of ${path} is damaged`)
    }
    return { file, bytes, checksums: end, identity: `${ino} ${size} ${mtimeMs}` }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * The bytes of an answer; a chunk is the reader's until it asks for the next. Where it is told to
 * look, throws DamagedPack before a chunk that is not as it was written.
 */
export async function* readPack(
  { file, bytes, checksums }: PackFile,
  isChecked: boolean,
): AsyncGenerator<Uint8Array> {
  let piece = 0
  for await (const chunk of answerOf(file, bytes)) {
    if (isChecked) {
      for (const part of piecesOf(chunk)) {
        if (crc32(part) !== checksums.readUInt32LE(piece * CHECKSUM_BYTES)) {
          throw new DamagedPack(`piece ${piece} of a stored answer is damaged`)
        }
        piece += 1
      }
    }
    yield chunk
  }
}

/** The answer that a file begins with, in chunks that are whole pieces, but for the last one. */
function answerOf(file: number, bytes: number): AsyncIterable<Uint8Array> {
  const cutShort = () => new DamagedPack('a stored answer was truncated while it was read')
  return readChunks(file, { start: 0, end: bytes, cutShort })
}

function* piecesOf(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
    yield chunk.subarray(start, start + PIECE_BYTES)
  }
}
