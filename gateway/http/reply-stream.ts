/** Bodies that are written over time, as the socket accepts their bytes. */

import type { HttpResponse } from 'uWebSockets.js'
import type { SlowBodies, SlowBody } from './slow-bodies.js'

/**
 * Maximum size of one write, which fits into the library's cork buffer (16 KiB) with the length of
 * the chunk. Of a larger write, the library sends the length first. If the socket is full at that
 * moment, it keeps the length but drops the bytes (uWebSockets.js 20.51), and the client reads the
 * next chunk as a part of this one.
 */
const CORKED_BYTES_MAX = 16_000

export interface ReplyStreamOptions {
  /** List that has the reply while it waits for its reader. */
  readonly slowBodies: SlowBodies | undefined
  /** Returns true while the gateway reads from the connection. */
  readonly isRead: () => boolean
}

/** Writer of a long body to one socket, after the head of the reply. */
export class ReplyStream implements SlowBody {
  readonly #res: HttpResponse
  readonly #options: ReplyStreamOptions
  readonly isComplete = false
  readonly isPaused = false
  readonly receivedBytes = 0
  #isLeft = false
  #wake: ((offset: number) => void) | undefined

  constructor(res: HttpResponse, options: ReplyStreamOptions) {
    this.#res = res
    this.#options = options
  }

  /** Ends pending writes, and prevents further ones. Must be called when the client disconnects. */
  leave(): void {
    this.#isLeft = true
    this.#options.slowBodies?.remove(this)
    this.#wake?.(0)
  }

  restartTimer(): void {
    this.stopTimer()
    if (this.#options.isRead()) this.#res.resume()
  }

  /** Pausing the socket stops the timer. */
  stopTimer(): void {
    this.#res.pause()
  }

  giveUp(): void {
    this.#res.close()
  }

  /** Waits for the reader, who may pause: each time bytes are accepted, the time begins again. */
  async #whileBlocked(writable: Promise<number>): Promise<number> {
    this.#options.slowBodies?.add(this)
    const offset = await writable
    this.#options.slowBodies?.remove(this)
    return offset
  }

  /**
   * Sends a body in memory and ends the reply, without copying. Bytes that the socket does not
   * accept immediately are offered again. Settles when all bytes are accepted or the client has
   * disconnected; returns undefined if all were accepted immediately. Must be called while the
   * socket is corked.
   */
  sendBytes(body: Uint8Array): Promise<void> | undefined {
    const [, isDone] = this.#res.tryEnd(body, body.byteLength)
    if (isDone) return undefined
    const { slowBodies } = this.#options
    slowBodies?.add(this)
    return new Promise((resolve) => {
      this.#wake = () => resolve()
      this.#res.onWritable((offset) => {
        slowBodies?.remove(this)
        const [isTaken, isDone] = this.#res.tryEnd(body.subarray(offset), body.byteLength)
        if (isDone) resolve()
        else slowBodies?.add(this)
        return isTaken
      })
    })
  }

  /** Sends a body of unknown length, without ending the reply. Rejects if the body does. */
  async sendChunks(body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#heedWritable()
    for await (const chunk of body) {
      for (let start = 0; start < chunk.byteLength && !this.#isLeft; start += CORKED_BYTES_MAX) {
        let isFlowing = true
        const drained = this.#untilWritable()
        this.#res.cork(() => {
          isFlowing = this.#res.write(chunk.subarray(start, start + CORKED_BYTES_MAX))
        })
        if (!isFlowing) await this.#whileBlocked(drained)
      }
      if (this.#isLeft) return
    }
  }

  /**
   * Sends a body of known length and ends the reply, without copying: bytes that the socket does
   * not accept wait here. Rejects if the body does, or if it is shorter than `totalBytes`.
   */
  async sendWhole(body: AsyncIterable<Uint8Array>, totalBytes: number): Promise<void> {
    this.#heedWritable()
    for await (const chunk of body) {
      if (this.#isLeft) return
      const start = this.#res.getWriteOffset()
      for (let rest = chunk; rest.byteLength > 0; ) {
        let outcome: readonly [isTaken: boolean, isDone: boolean] = [true, false]
        const writable = this.#untilWritable()
        const part = rest
        this.#res.cork(() => {
          outcome = this.#res.tryEnd(part, totalBytes)
        })
        if (outcome[1]) return
        if (outcome[0]) break
        const offset = await this.#whileBlocked(writable)
        if (this.#isLeft) return
        rest = chunk.subarray(offset - start)
      }
    }
    if (!this.#isLeft) throw new Error('a body is shorter than its announced length')
  }

  #heedWritable(): void {
    this.#res.onWritable((offset) => {
      this.#wake?.(offset)
      return true
    })
  }

  /** Settles with the number of bytes that the socket has accepted, or when the client leaves. */
  #untilWritable(): Promise<number> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
