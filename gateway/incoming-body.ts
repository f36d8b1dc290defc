/** A request's body between the socket that brings it and the handler that reads it. */

import type { Awaitable } from '../conf/awaitable.js'
import { Failure } from '../conf/failures.js'
import { Spill } from './spill.js'

const QUEUE_BYTES_MAX = 262_144

/**
 * A paused socket is still read for as long as each read fills the listener's buffer of 512 KiB:
 * a fast sender on a busy machine brings tens of megabytes. Beyond this they wait in a file.
 */
const MEMORY_BYTES_MAX = 2_097_152

/** What the body may do to its socket. */
export interface BodySource {
  pause(): void
  resume(): void
}

/**
 * A queue of received chunks, read once as an async iterable. When the reader lags by more than
 * 256 KiB the socket is paused, so a slow reader slows the sender and memory stays flat. A chunk
 * is the reader's until it asks for the next one; then its memory may serve another body.
 */
export class IncomingBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource
  #chunks: Uint8Array[] = []
  #queuedBytes = 0
  #receivedBytes = 0
  #isPaused = false
  #isComplete = false
  #isDiscarded = false
  #failure: Failure | undefined
  /** Holds what came after all that is in `#chunks`; while it is there, all goes into it. */
  #spill: Spill | undefined
  #wake: (() => void) | undefined

  constructor(source: BodySource) {
    this.#source = source
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get receivedBytes(): number {
    return this.#receivedBytes
  }

  /** Takes a copy of one chunk from the socket. */
  push(chunk: Uint8Array, isLast: boolean): void {
    this.#receivedBytes += chunk.byteLength
    this.#isComplete = isLast
    if (!this.#isDiscarded && chunk.byteLength > 0) {
      this.#keep(chunk)
      if (this.#queuedBytes > QUEUE_BYTES_MAX && !this.#isPaused && !isLast) {
        this.#isPaused = true
        this.#source.pause()
      }
    }
    this.#wake?.()
  }

  /** Ends the body before its time: the client is gone. */
  cut(): void {
    if (this.#isComplete && this.#spill === undefined) return
    this.#failure = new Failure('bad_request', 'The request body ended before it was complete.')
    this.#closeSpill()
    this.#wake?.()
  }

  /** Drops what is queued and what may still come; the socket flows again. */
  discard(): void {
    this.#isDiscarded = true
    this.#chunks.forEach(reusePiece)
    this.#chunks = []
    this.#queuedBytes = 0
    this.#closeSpill()
    this.#resume()
  }

  /**
   * All of it, once it has come to its end within so many bytes. Undefined where it has not: then
   * nothing was read, and it can be. Throws the failure of a body that was cut.
   */
  whole(bytesMax: number): Awaitable<Buffer | undefined> {
    if (!this.#isComplete && this.#failure === undefined && this.#queuedBytes <= bytesMax) {
      return this.#news().then(() => this.whole(bytesMax))
    }
    if (this.#failure !== undefined) throw this.#failure
    if (this.#queuedBytes > bytesMax || this.#spill !== undefined) return undefined
    const [only] = this.#chunks
    // The copy of a small chunk is nobody else's.
    const isAlone = this.#chunks.length === 1 && only instanceof Buffer
    const whole = isAlone ? only : Buffer.concat(this.#chunks)
    this.discard()
    return whole
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift() ?? (await this.#takeSpilled())
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.byteLength
        if (this.#queuedBytes < QUEUE_BYTES_MAX / 4) this.#resume()
        yield chunk
        reusePiece(chunk)
      } else if (this.#failure !== undefined) {
        throw this.#failure
      } else if (this.#isComplete || this.#isDiscarded) {
        return
      } else {
        await this.#news()
      }
    }
  }

  /** Settles when something has come, or the end. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  #keep(chunk: Uint8Array): void {
    this.#queuedBytes += chunk.byteLength
    if (this.#spill === undefined && this.#queuedBytes <= MEMORY_BYTES_MAX) {
      this.#chunks.push(...copyToPieces(chunk))
      return
    }
    try {
      this.#spill ??= new Spill()
      this.#spill.append(chunk)
    } catch (cause) {
      this.#failure = new Failure('internal', 'The request body cannot be kept.', { cause })
      this.discard()
    }
  }

  /** The next piece of what was spilled. Never called while there are chunks. */
  async #takeSpilled(): Promise<Uint8Array | undefined> {
    if (this.#spill === undefined) return undefined
    if (this.#spill.unreadBytes > 0) return await this.#spill.take(takePiece())
    this.#closeSpill()
    return undefined
  }

  #closeSpill(): void {
    this.#spill?.close()
    this.#spill = undefined
  }

  #resume(): void {
    if (!this.#isPaused || this.#failure !== undefined) return
    this.#isPaused = false
    this.#source.resume()
  }
}

/**
 * Left to the collector, the copies of a large body stay long after they have passed: V8 counts
 * some 100 MB of them before it looks. So large chunks are copied to pieces that are used again.
 */
const PIECE_BYTES = 65_536
const SPARE_PIECES_MAX = 64
const sparePieces: ArrayBuffer[] = []

function copyToPieces(chunk: Uint8Array): readonly Uint8Array[] {
  // A piece for each small body would cost more than it saves.
  if (chunk.byteLength < PIECE_BYTES / 4) return [Buffer.from(chunk)]
  const pieces: Uint8Array[] = []
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
    const part = chunk.subarray(start, start + PIECE_BYTES)
    const copy = takePiece().subarray(0, part.byteLength)
    copy.set(part)
    pieces.push(copy)
  }
  return pieces
}

function takePiece(): Uint8Array {
  return new Uint8Array(sparePieces.pop() ?? new ArrayBuffer(PIECE_BYTES))
}

function reusePiece({ buffer }: Uint8Array): void {
  const isPiece = buffer instanceof ArrayBuffer && buffer.byteLength === PIECE_BYTES
  if (isPiece && sparePieces.length < SPARE_PIECES_MAX) sparePieces.push(buffer)
}

/** A body that was never sent. */
export const NO_BODY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
}

/**
 * The whole body as one buffer. Throws `payload_too_large` as soon as it exceeds `bytesMax`, and
 * before reading when `declaredBytes` already does.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  declaredBytes = 0,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = declaredBytes
  if (size <= bytesMax) {
    size = 0
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > bytesMax) break
      chunks.push(Buffer.from(chunk))
    }
  }
  if (size > bytesMax) {
    throw new Failure('payload_too_large', `The request body exceeds ${bytesMax} bytes.`)
  }
  return Buffer.concat(chunks)
}
