/** A file without a name that takes what a body's queue cannot hold, and gives it back in order. */

import { randomBytes } from 'node:crypto'
import { closeSync, openSync, read, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readAt = promisify(read)

/** Written at once, as its writer cannot wait; read as the reader can. */
export class Spill {
  readonly #file: number
  #writtenBytes = 0
  #readBytes = 0
  #isReading = false
  #isClosed = false

  /** Throws when the system's temporary folder takes no file. */
  constructor() {
    const path = join(tmpdir(), `gatehouse-body-${randomBytes(12).toString('hex')}`)
    this.#file = openSync(path, 'wx+', 0o600)
    // Nobody else needs the name, and a file without one goes with the process.
    unlinkSync(path)
  }

  get unreadBytes(): number {
    return this.#writtenBytes - this.#readBytes
  }

  /** Throws when the disk is full. */
  append(chunk: Uint8Array): void {
    let offset = 0
    while (offset < chunk.byteLength) {
      const position = this.#writtenBytes + offset
      offset += writeSync(this.#file, chunk, offset, chunk.byteLength - offset, position)
    }
    this.#writtenBytes += chunk.byteLength
  }

  /** Fills as much of the buffer as there is to read; returns that part. */
  async take(buffer: Uint8Array): Promise<Uint8Array> {
    this.#isReading = true
    const length = Math.min(buffer.byteLength, this.unreadBytes)
    const { bytesRead } = await readAt(this.#file, buffer, 0, length, this.#readBytes)
    this.#readBytes += bytesRead
    this.#isReading = false
    if (this.#isClosed) closeSync(this.#file)
    return buffer.subarray(0, bytesRead)
  }

  /** To be called once, when nothing more is to be read; the space is free again. */
  close(): void {
    this.#isClosed = true
    if (!this.#isReading) closeSync(this.#file)
  }
}
