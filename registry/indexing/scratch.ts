/** The scratch file of one build, an unlinked temporary file. */

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { readChunks } from '../../conf/lib/read-buffers.js'

export interface Scratch {
  /** Appends bytes and returns their offset. Calls must not overlap. */
  append(bytes: Uint8Array): Promise<number>
  /** Reads a part of the file. A chunk is valid until the next one is requested. */
  read(start: number, bytes: number): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** Creates an empty file and unlinks it, so that it does not outlive the process. */
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
