/** Random access to a file on the disk. */

import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ByteSource } from './archive/byte-source.js'

export interface ByteFile extends ByteSource {
  close(): void
}

/** Reads up to `length` bytes at a position into a buffer; returns their number. */
type Read = (
  file: number,
  into: Uint8Array,
  part: { readonly offset: number; readonly length: number; readonly position: number },
) => Promise<number>

const readInPool = promisify(read)

const readLater: Read = async (file, into, { offset, length, position }) =>
  (await readInPool(file, into, offset, length, position)).bytesRead

const readNow: Read = async (file, into, part) => readSync(file, into, part)

/**
 * Opens a file, which must not change while it is open. Its reads block the calling thread, because
 * a switch to another thread costs more than most reads.
 */
export function openByteFile(path: string): ByteFile {
  const file = openSync(path, 'r')
  const source = sourceOf(file, fstatSync(file).size, readNow)
  return { ...source, close: () => closeSync(file) }
}

/** Returns a source of the first `bytes` bytes. Its reads reject if the file is shorter. */
export function byteSourceOf(file: number, bytes: number): ByteSource {
  return sourceOf(file, bytes, readLater)
}

function sourceOf(file: number, bytes: number, readOnce: Read): ByteSource {
  const readPart = async (start: number, length: number): Promise<Buffer> => {
    const buffer = Buffer.alloc(Math.max(0, length))
    let filled = 0
    while (filled < buffer.length) {
      const part = { offset: filled, length: buffer.length - filled, position: start + filled }
      const bytesRead = await readOnce(file, buffer, part)
      if (bytesRead === 0) throw new Error('the received file is shorter than its size')
      filled += bytesRead
    }
    return buffer
  }
  return {
    bytes,
    read: (start, length) => readPart(start, Math.min(length, bytes - start)),
    async *stream(start = 0, end = bytes) {
      const last = Math.min(end, bytes)
      for (let at = start; at < last; at += CHUNK_BYTES) {
        yield await readPart(at, Math.min(CHUNK_BYTES, last - at))
      }
    },
  }
}

const CHUNK_BYTES = 65_536
