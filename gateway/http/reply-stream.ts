/** Bodies that take time: written as the socket takes them, until the client has them or goes. */

import type { HttpResponse } from 'uWebSockets.js'

/**
 * What the library's cork buffer (16 KiB) holds beside the length of a chunk. Of a larger write it
 * sends the length first; finds it the socket full at that moment, it keeps the length and drops
 * the bytes (uWebSockets.js 20.51), and the client reads the next chunk as a part of this one.
 */
const CORKED_BYTES_MAX = 16_000

/** A long body on its way to one socket, whose head has been written. */
export class ReplyStream {
  readonly #res: HttpResponse
  #isLeft = false
  #wake: ((offset: number) => void) | undefined

  constructor(res: HttpResponse) {
    this.#res = res
  }

  /** The client has gone: what waits for it ends, and nothing more is written. */
  leave(): void {
    this.#isLeft = true
    this.#wake?.(0)
  }

  /**
   * Sends a body that is there, with its end: nothing is copied, and what the socket does not take
   * at once it is offered again. Settles when all is taken or the client has gone; undefined where
   * all was taken at once. To be called where the socket is corked.
   */
  sendBytes(body: Uint8Array): Promise<void> | undefined {
    const [, isDone] = this.#res.tryEnd(body, body.byteLength)
    if (isDone) return undefined
    return new Promise((resolve) => {
      this.#wake = () => resolve()
      this.#res.onWritable((offset) => {
        const [isTaken, isDone] = this.#res.tryEnd(body.subarray(offset), body.byteLength)
        if (isDone) resolve()
        return isTaken
      })
    })
  }

  /** Sends all but the end. Rejects when the body does. */
  async sendChunks(body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#heedWritable()
    for await (const chunk of body) {
      for (let start = 0; start < chunk.byteLength && !this.#isLeft; start += CORKED_BYTES_MAX) {
        let isFlowing = true
        const drained = this.#untilWritable()
        this.#res.cork(() => {
          isFlowing = this.#res.write(chunk.subarray(start, start + CORKED_BYTES_MAX))
        })
        if (!isFlowing) await drained
      }
      if (this.#isLeft) return
    }
  }

  /**
   * Sends a body of that length with its end. The length is told, and nothing is copied: what the
   * socket does not take waits here. Rejects when the body does, or ends before its length.
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
        const offset = await writable
        if (this.#isLeft) return
        rest = chunk.subarray(offset - start)
      }
    }
    if (!this.#isLeft) throw new Error('a body ended before its length')
  }

  #heedWritable(): void {
    this.#res.onWritable((offset) => {
      this.#wake?.(offset)
      return true
    })
  }

  /** Settles with the bytes of the body that were taken so far, or when the client has gone. */
  #untilWritable(): Promise<number> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
