/** Files of a stored answer: its bytes, and in a second file checksums that detect damage. */

import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readChunks } from '../../conf/lib/read-buffers.js'

/**
 * Bytes of the answer that one checksum covers. The file of checksums holds the CRC-32 of each
 * piece, then the answer's length, its inode, a magic number, and the CRC-32 of the bytes before. A
 * truncated answer is detected before any of it is sent.
 */
const PIECE_BYTES = 65_536
const MARK = 0x47_48_50_32
const CHECKSUM_BYTES = 4
const FOOTER_BYTES = 24
const FILE_MODE = 0o640

/** A stored answer that is open; the caller closes `file` once. */
export interface PackFile {
  readonly file: number
  readonly bytes: number
  /** The CRC-32 of each piece, and a footer; undefined if the file need not be checked again. */
  readonly checksums: Buffer | undefined
  /** Inode, size and modification time; equal as long as the file is unchanged. */
  readonly identity: string
}

/** Error for a file that does not contain what was written to it. */
export class DamagedPack extends Error {
  override readonly name = 'DamagedPack'
}

/** Returns the path of the checksums of the answer at `path`. */
export function checksumsPath(path: string): string {
  return `${path}.sums`
}

/**
 * Returns the identity of an answer's file; see `PackFile`. The time is rounded, because an update
 * of the time of its last use rounds it as well.
 */
export function packIdentity({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${Math.round(mtimeMs)}`
}

/** Writes the checksums of a complete answer of `bytes` bytes, then moves both files to `path`. */
export async function placePack(
  part: { readonly path: string; readonly bytes: number },
  path: string,
): Promise<void> {
  const checksums = await readChecksums(part)
  await writeFile(checksumsPath(part.path), checksums, { mode: FILE_MODE })
  await rename(checksumsPath(part.path), checksumsPath(path))
  await rename(part.path, path)
}

/** Removes an answer and its checksums, as far as they exist. */
export async function removePack(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(checksumsPath(path), { force: true })
}

async function readChecksums({ path, bytes }: { readonly path: string; readonly bytes: number }) {
  const handle = await open(path, 'r')
  try {
    const { ino } = await handle.stat()
    const checksums = Buffer.alloc(checksumsLength(bytes))
    let piece = 0
    for await (const chunk of answerOf(handle.fd, bytes)) {
      for (const part of piecesOf(chunk)) {
        checksums.writeUInt32LE(crc32(part), piece * CHECKSUM_BYTES)
        piece += 1
      }
    }
    const footer = checksums.subarray(-FOOTER_BYTES)
    footer.writeDoubleLE(bytes, 0)
    footer.writeDoubleLE(ino, 8)
    footer.writeUInt32LE(MARK, 16)
    footer.writeUInt32LE(crc32(checksums.subarray(0, -CHECKSUM_BYTES)), 20)
    return checksums
  } finally {
    await handle.close()
  }
}

/**
 * Opens a stored answer, without its checksums if its identity is `checkedIdentity`. Returns
 * undefined if a file cannot be opened, or if the checksums are those of another file, as after a
 * concurrent write. Throws DamagedPack if the answer is truncated or its checksums are damaged.
 */
export function openPack(path: string, checkedIdentity?: string): PackFile | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  let isReturned = false
  try {
    const stats = fstatSync(file)
    const identity = packIdentity(stats)
    let checksums: Buffer | undefined
    if (identity !== checkedIdentity) {
      checksums = readFileIfAny(checksumsPath(path))
      if (checksums === undefined) return undefined
      const { bytes, ino } = readFooter(path, checksums)
      if (ino !== stats.ino) return undefined
      if (bytes !== stats.size) throw new DamagedPack(`${path} does not have ${bytes} bytes`)
    }
    isReturned = true
    return { file, bytes: stats.size, checksums, identity }
  } finally {
    if (!isReturned) closeSync(file)
  }
}

function readFileIfAny(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function readFooter(path: string, checksums: Buffer): { bytes: number; ino: number } {
  const footer = checksums.subarray(-FOOTER_BYTES)
  const bytes =
    footer.byteLength === FOOTER_BYTES && footer.readUInt32LE(16) === MARK
      ? footer.readDoubleLE(0)
      : Number.NaN
  if (
    checksums.byteLength !== checksumsLength(bytes) ||
    crc32(checksums.subarray(0, -CHECKSUM_BYTES)) !== footer.readUInt32LE(20)
  ) {
    throw new DamagedPack(`the checksums of ${path} are damaged`)
  }
  return { bytes, ino: footer.readDoubleLE(8) }
}

function checksumsLength(bytes: number): number {
  return Math.ceil(bytes / PIECE_BYTES) * CHECKSUM_BYTES + FOOTER_BYTES
}

/**
 * Yields the bytes of an answer; a chunk is valid until the next one is requested. If the file was
 * opened with checksums, throws DamagedPack instead of yielding a chunk whose checksum is wrong.
 */
export async function* readPack({ file, bytes, checksums }: PackFile): AsyncGenerator<Uint8Array> {
  let piece = 0
  for await (const chunk of answerOf(file, bytes)) {
    if (checksums !== undefined) {
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
