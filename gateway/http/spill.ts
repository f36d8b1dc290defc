/** Unnamed temporary file for the part of a body that exceeds its in-memory queue. */

import { randomBytes } from 'node:crypto'
import { closeSync, openSync, read, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readAt = promisify(read)

/**
 * A first-in, first-out queue of bytes in a file. Writes are synchronous, because the socket's
 * callback cannot wait; reads are asynchronous.
 */
export class Spill {
  readonly #file: number
  #writtenBytes = 0
  #readBytes = 0
  #isReading = false
  #isClosed = false

  /** Throws if the system's temporary folder is not writable. */
  constructor() {
    const path = join(tmpdir(), `gatehouse-body-${randomBytes(12).toString('hex')}`)
    this.#file = openSync(path, 'wx+', 0o600)
    // The kernel deletes a file without a name when the process ends, even after a crash.
    unlinkSync(path)
  }

  get unreadBytes(): number {
    return this.#writtenBytes - this.#readBytes
  }

  /** Throws if the disk is full. */
  append(chunk: Uint8Array): void {
    let offset = 0
    while (offset < chunk.byteLength) {
      const position = this.#writtenBytes + offset
      offset += writeSync(this.#file, chunk, offset, chunk.byteLength - offset, position)
    }
    this.#writtenBytes += chunk.byteLength
  }

  /** Moves unread bytes into the buffer, as many as fit; returns the filled part. */
  async take(buffer: Uint8Array): Promise<Uint8Array> {
    this.#isReading = true
    const length = Math.min(buffer.byteLength, this.unreadBytes)
    const { bytesRead } = await readAt(this.#file, buffer, 0, length, this.#readBytes)
    this.#readBytes += bytesRead
    this.#isReading = false
    if (this.#isClosed) closeSync(this.#file)
    return buffer.subarray(0, bytesRead)
  }

  /** Frees the space, after a read in progress. Must be called exactly once. */
  close(): void {
    this.#isClosed = true
    if (!this.#isReading) closeSync(this.#file)
  }
}
