/** A request's body between the socket that brings it and the handler that reads it. */

import { Failure } from '../../conf/failures.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { Spill } from './spill.js'

const QUEUE_BYTES_MAX = 262_144

/**
 * Bytes of one body that are kept in memory; further ones are written to a file. A paused socket is
 * still read while each read fills the listener's buffer of 512 KiB, so a fast sender on a busy
 * machine can send tens of megabytes.
 */
const MEMORY_BYTES_MAX = 2_097_152

/** Size of a read from a file. Half the time of smaller ones is the switch to another thread. */
const SPILL_READ_BYTES = 262_144

/** The socket of a body, which the body can pause. */
export interface BodySource {
  pause(): void
  resume(): void
}

export interface DrainLimits {
  readonly bytesMax: number
  readonly timeoutMs: number
  /** Longest pause between two chunks. */
  readonly idleMs: number
}

/**
 * A queue of received chunks, read once as an async iterable. If more than 256 KiB are queued, the
 * socket is paused, so that a slow reader slows the sender. A chunk is valid until the reader asks
 * for the next one; then its memory may be used for another body.
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
  /** The file with the bytes after those in `#chunks`; if present, new chunks are added to it. */
  #spill: Spill | undefined
  #spillBuffer: Uint8Array | undefined
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

  /** Copies one chunk from the socket into the queue. */
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

  /** Ends an incomplete body because the client has disconnected; its reader gets an error. */
  cut(): void {
    if (this.#isComplete && this.#spill === undefined) return
    this.#failure = new Failure('bad_request', 'The request body ended before it was complete.')
    this.#closeSpill()
    this.#wake?.()
  }

  /** Drops the queued bytes and all later ones, and resumes the socket. */
  discard(): void {
    this.#isDiscarded = true
    this.#chunks.forEach(reusePiece)
    this.#chunks = []
    this.#queuedBytes = 0
    this.#closeSpill()
    this.#resume()
  }

  /**
   * Waits until the rest of a discarded body has arrived or the client has disconnected, for at
   * most `timeoutMs` and `bytesMax`, and while no pause exceeds `idleMs`. The rest is dropped.
   */
  async drain({ bytesMax, timeoutMs, idleMs }: DrainLimits): Promise<void> {
    const lastBytes = this.#receivedBytes + bytesMax
    const endsAtMs = performance.now() + timeoutMs
    while (!this.#isComplete && this.#failure === undefined) {
      const leftMs = Math.min(idleMs, endsAtMs - performance.now())
      if (leftMs <= 0 || this.#receivedBytes > lastBytes) return
      const receivedBytes = this.#receivedBytes
      const timer = setTimeout(() => this.#wake?.(), leftMs)
      await this.#nextEvent()
      clearTimeout(timer)
      if (this.#receivedBytes === receivedBytes) return
    }
  }

  /**
   * Returns the whole body once it is complete, or undefined if it exceeds `bytesMax`; in that case
   * nothing was consumed, and the body can still be read. Throws if the body was cut off.
   */
  whole(bytesMax: number): Awaitable<Buffer | undefined> {
    if (!this.#isComplete && this.#failure === undefined && this.#queuedBytes <= bytesMax) {
      return this.#nextEvent().then(() => this.whole(bytesMax))
    }
    if (this.#failure !== undefined) throw this.#failure
    if (this.#queuedBytes > bytesMax || this.#spill !== undefined) return undefined
    const [only] = this.#chunks
    // The copy of a small chunk is not shared with another body.
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
        await this.#nextEvent()
      }
    }
  }

  /** Settles when a chunk or the end of the body arrives. */
  async #nextEvent(): Promise<void> {
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

  /** Reads the next piece from the file. Must not be called while `#chunks` has any. */
  async #takeSpilled(): Promise<Uint8Array | undefined> {
    if (this.#spill === undefined) return undefined
    if (this.#spill.unreadBytes > 0) {
      this.#spillBuffer ??= new Uint8Array(SPILL_READ_BYTES)
      return await this.#spill.take(this.#spillBuffer)
    }
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
 * Size of the pieces into which large chunks are copied, and which are used again. The garbage
 * collector would free such copies only after some 100 MB of them.
 */
const PIECE_BYTES = 65_536
const SPARE_PIECES_MAX = 64
const sparePieces: ArrayBuffer[] = []

function copyToPieces(chunk: Uint8Array): readonly Uint8Array[] {
  // Reuse does not pay for a small chunk.
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

/** The body of a request without one. */
export const NO_BODY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
}

/**
 * Reads the whole body into one buffer. Throws `payload_too_large` as soon as it exceeds
 * `bytesMax`, or before reading if `declaredBytes` exceeds it.
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
