/** Writing of a received body to a file in batches, with its digests. */

import { write } from 'node:fs'
import { promisify } from 'node:util'
import type { Digests } from '../conf/package.js'
import { type RemoteDigests, type StartRemoteDigests, startDigests } from './digests.js'

/**
 * Size up to which a body is written and digested when it is complete. The digests of a longer body
 * are computed in another thread, because those of 100 MB take a third of a second.
 */
const SMALL_BYTES_MAX = 131_072
/** Size of a batch. An upload whose sender is slow occupies one of them. */
const BATCH_BYTES = 262_144

/** Writes one body to an empty file. `end` or `drop` must be called in the end. */
export class BatchWriter {
  readonly #file: number
  readonly #startRemote: StartRemoteDigests
  /** Copies of all chunks of a body that is small so far. */
  readonly #head: Buffer[] = []
  #headBytes = 0
  /** Digests of a body that is not small. */
  #remote: RemoteDigests | undefined
  #batch = NO_BATCH
  #filledBytes = 0
  /** The work on the previous batch. */
  #previous: Promise<unknown> | undefined

  constructor(file: number, startRemote: StartRemoteDigests) {
    this.#file = file
    this.#startRemote = startRemote
  }

  /** Copies the chunk. Waits while the previous batch is written or digested. */
  async add(chunk: Uint8Array): Promise<void> {
    if (this.#remote === undefined) {
      if (this.#headBytes + chunk.byteLength <= SMALL_BYTES_MAX) {
        this.#head.push(Buffer.from(chunk))
        this.#headBytes += chunk.byteLength
        return
      }
      this.#remote = this.#startRemote()
      for (const part of this.#head.splice(0)) await this.#fill(part, this.#remote)
    }
    await this.#fill(chunk, this.#remote)
  }

  /** Writes the rest and returns the digests of the body. */
  async end(): Promise<Digests> {
    if (this.#remote === undefined) return await this.#writeSmall()
    await this.#flush(this.#remote)
    await this.#previous
    return await this.#remote.finish()
  }

  /** Frees the digests after an error, and waits until nothing is written to the file any more. */
  async drop(): Promise<void> {
    this.#remote?.drop()
    await this.#previous?.catch(() => {})
  }

  async #writeSmall(): Promise<Digests> {
    const [only] = this.#head
    const body = this.#head.length === 1 && only !== undefined ? only : Buffer.concat(this.#head)
    await writeAll(this.#file, body)
    const digests = startDigests()
    digests.update(body)
    return digests.finish()
  }

  async #fill(chunk: Uint8Array, remote: RemoteDigests): Promise<void> {
    for (let start = 0; start < chunk.byteLength; ) {
      if (this.#batch === NO_BATCH) this.#batch = takeBatch()
      const part = chunk.subarray(start, start + BATCH_BYTES - this.#filledBytes)
      this.#batch.set(part, this.#filledBytes)
      this.#filledBytes += part.byteLength
      start += part.byteLength
      if (this.#filledBytes === BATCH_BYTES) await this.#flush(remote)
    }
  }

  /** Starts the work on the batch, after that on the previous one. */
  async #flush(remote: RemoteDigests): Promise<void> {
    await this.#previous
    const [batch, filled] = [this.#batch, this.#batch.subarray(0, this.#filledBytes)]
    this.#batch = NO_BATCH
    this.#filledBytes = 0
    const work = [writeAll(this.#file, filled), remote.update(filled)]
    this.#previous = allOf(work).then(() => giveBack(batch))
    // Its error is thrown by the next call, which waits for it.
    this.#previous.catch(() => {})
  }
}

const writePart = promisify(write)

/** Appends the bytes to what was written before. */
async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; ) {
    start += (await writePart(file, bytes, start, bytes.byteLength - start)).bytesWritten
  }
}

/** Waits for all work, and then throws the first error. */
async function allOf(work: ReadonlyArray<Promise<void>>): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}

const NO_BATCH = new Uint8Array(new SharedArrayBuffer(0))
/** Batches that are used again. The garbage collector would free them late. */
const spare: Array<Uint8Array<SharedArrayBuffer>> = []
const SPARE_MAX = 16

function takeBatch(): Uint8Array<SharedArrayBuffer> {
  return spare.pop() ?? new Uint8Array(new SharedArrayBuffer(BATCH_BYTES))
}

function giveBack(batch: Uint8Array<SharedArrayBuffer>): void {
  if (batch !== NO_BATCH && spare.length < SPARE_MAX) spare.push(batch)
}
