/** Random access to a file on the disk. */

import { type FileHandle, open } from 'node:fs/promises'
import type { ByteSource } from './archive/byte-source.js'

export interface ByteFile extends ByteSource {
  close(): Promise<void>
}

/** Opens a file, which must not change while it is open. */
export async function openByteFile(path: string): Promise<ByteFile> {
  const file = await open(path, 'r')
  const { size } = await file.stat()
  return { ...byteSourceOf(file, size), close: () => file.close() }
}

/** Returns a source of the first `bytes` bytes. Its reads reject if the file is shorter. */
export function byteSourceOf(file: FileHandle, bytes: number): ByteSource {
  return {
    bytes,
    read: (start, length) => readPart(file, start, Math.min(length, bytes - start)),
    stream: (start = 0, end = bytes) => streamPart(file, start, Math.min(end, bytes)),
  }
}

async function readPart(file: FileHandle, start: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, bytes))
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled)
    if (bytesRead === 0) throw new Error('the received file is shorter than its size')
    filled += bytesRead
  }
  return buffer
}

const CHUNK_BYTES = 65_536

async function* streamPart(
  file: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += CHUNK_BYTES) {
    yield await readPart(file, at, Math.min(CHUNK_BYTES, end - at))
  }
}
