/** A file for the bytes of one build, which nobody else sees. */

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { readChunks } from '../../conf/read-buffers.js'

export interface Scratch {
  /** Adds bytes, and tells where they begin. One call has to end before the next. */
  append(bytes: Uint8Array): Promise<number>
  /** A part of it; a chunk is the reader's until it asks for the next. */
  read(start: number, bytes: number): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** An empty one; it has no name, so that nothing of it is left however the process ends. */
export async function openScratch(folder: string): Promise<Scratch> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  let end = 0
  return {
    async append(bytes) {
      const start = end
      end += bytes.byteLength
      await file.writeFile(bytes)
      return start
    },
    read: (start, bytes) =>
      readChunks(file.fd, {
        start,
        end: start + bytes,
        cutShort: () => new Error('the scratch file is shorter than it was'),
      }),
    close: () => file.close(),
  }
}
