/** File format of a stored answer: its bytes, then a trailer with checksums that detect damage. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readChunks } from '../../conf/lib/read-buffers.js'

/**
 * Bytes of the answer that one checksum covers. The trailer holds the CRC-32 of each piece, then
 * the answer's length, a magic number, and the CRC-32 of the trailer. A truncated file is detected
 * before any of it is sent.
 */
const PIECE_BYTES = 65_536
const MARK = 0x47_48_50_31
const CHECKSUM_BYTES = 4
const FOOTER_BYTES = 16

/** A stored answer that is open; the caller closes `file` once. */
export interface PackFile {
  readonly file: number
  readonly bytes: number
  /** Trailer of the file, which begins with the CRC-32 of each piece. */
  readonly checksums: Buffer
  /** Inode, size and modification time; equal as long as the file is unchanged. */
  readonly identity: string
}

/** Error for a file that does not contain what was written to it. */
export class DamagedPack extends Error {
  override readonly name = 'DamagedPack'
}

/** Appends the trailer to a file that holds an answer of `bytes` bytes. */
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

/**
 * Opens a stored answer. Returns undefined if the file cannot be opened. Throws DamagedPack if the
 * file is truncated or its trailer is damaged.
 */
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
 * Yields the bytes of an answer; a chunk is valid until the next one is requested. If `isChecked`
 * is set, throws DamagedPack instead of yielding a chunk whose checksum is wrong.
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

/** Reads the answer in chunks of whole pieces, except for the last one. */
function answerOf(file: number, bytes: number): AsyncIterable<Uint8Array> {
  const cutShort = () => new DamagedPack('a stored answer was truncated while it was read')
  return readChunks(file, { start: 0, end: bytes, cutShort })
}

function* piecesOf(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
    yield chunk.subarray(start, start + PIECE_BYTES)
  }
}
