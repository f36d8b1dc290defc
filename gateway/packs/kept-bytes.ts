/** Bytes of a request that are kept to be read again: a few in memory, more in a temporary file. */

import { Spill } from '../http/spill.js'

/** Maximum bytes in memory. */
const MEMORY_BYTES_MAX = 262_144
const MEMORY_BYTES_MIN = 1_024
const CHUNK_BYTES = 65_536

export class KeptBytes {
  #memory = Buffer.allocUnsafe(MEMORY_BYTES_MIN)
  #memoryBytes = 0
  #file: Spill | undefined

  /** All bytes, if they are in memory. */
  get inMemory(): Buffer | undefined {
    return this.#file === undefined ? this.#memory.subarray(0, this.#memoryBytes) : undefined
  }

  /** Copies the chunk. Throws if the disk is full. */
  append(chunk: Uint8Array): void {
    const bytes = this.#memoryBytes + chunk.byteLength
    if (bytes > MEMORY_BYTES_MAX) this.#file ??= new Spill()
    if (this.#file !== undefined) {
      this.#file.append(chunk)
      return
    }
    if (bytes > this.#memory.byteLength) {
      const larger = Buffer.allocUnsafe(2 * bytes)
      this.#memory.copy(larger, 0, 0, this.#memoryBytes)
      this.#memory = larger
    }
    this.#memory.set(chunk, this.#memoryBytes)
    this.#memoryBytes = bytes
  }

  /** Yields the bytes, once. A chunk is valid until the next one is requested. */
  async *replay(): AsyncGenerator<Uint8Array> {
    yield this.#memory.subarray(0, this.#memoryBytes)
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    while (this.#file !== undefined && this.#file.unreadBytes > 0)
      yield await this.#file.take(buffer)
  }

  /** Removes the temporary file, which ends a replay. */
  close(): void {
    this.#file?.close()
    this.#file = undefined
  }
}
