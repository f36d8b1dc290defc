/** A file that git writes while many clients read it, each at its own pace. */

import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readOnce } from '../../conf/chunks.js'
import { borrowBuffer, readPart } from '../../conf/read-buffers.js'

/** Interval at which the file's size is read while readers wait; it grows if the file does not. */
const POLL_MS_MIN = 4
const POLL_MS_MAX = 8

/** How the writing ended. */
export type WriteEnd = { readonly bytes: number } | { readonly error: unknown }

export class GrowingFile {
  readonly path: string
  /** Open for reading and writing. */
  readonly file: number
  /** Told when the last reader has left, which may happen more than once. */
  onUnread: () => void = () => {}
  #end: WriteEnd | undefined
  #sizeBytes = 0
  #readers = 0
  #isReleased = false
  #isClosed = false
  #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #pauseMs = POLL_MS_MIN

  /** Opens the file: its writer makes it, a reader finds it. Throws when it cannot. */
  constructor(path: string, role: 'writer' | 'reader') {
    this.path = path
    const flags = role === 'writer' ? constants.O_CREAT | constants.O_EXCL : 0
    this.file = openSync(path, constants.O_RDWR | flags, 0o600)
  }

  get readers(): number {
    return this.#readers
  }

  /** Whether the last reader of a released file has left: nobody can read it any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** To be called once: the file is whole with that many bytes, or will never be. */
  end(end: WriteEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    if ('bytes' in end) this.#sizeBytes = end.bytes
    this.#wake()
  }

  /** Nobody will ask for another reader; the file is closed with the last one. */
  release(): void {
    this.#isReleased = true
    this.#closeIfDone()
  }

  /** Settles with the first byte, the end or the signal; throws where there will be no byte. */
  async begun(signal: AbortSignal): Promise<void> {
    while (this.#sizeBytes === 0 && this.#end === undefined && !signal.aborted) {
      await this.#waitForGrowth()
    }
    if (this.#sizeBytes === 0 && this.#end !== undefined && 'error' in this.#end) {
      throw this.#end.error
    }
  }

  /**
   * A reader from the first byte on: counted from now until it ends or returns, and to be read or
   * returned from. Ends early with the signal; throws the error of a file that will not be whole.
   * A chunk is the reader's until it asks for the next. Not for a file that is closed.
   */
  open(signal: AbortSignal): AsyncIterable<Uint8Array> {
    this.#readers += 1
    let hasLeft = false
    const onLeave = () => {
      if (hasLeft) return
      hasLeft = true
      this.#readers -= 1
      if (this.#readers === 0) this.onUnread()
      this.#closeIfDone()
    }
    // Who waits for more would not see that its client has gone.
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    const chunks = this.#read(signal, onLeave)
    const end = async () => {
      await chunks.return()
      onLeave()
    }
    return readOnce(() => chunks.next(), end)
  }

  async *#read(signal: AbortSignal, onLeave: () => void): AsyncGenerator<Uint8Array, void> {
    let position = 0
    try {
      while (!signal.aborted) {
        if (position < this.#sizeBytes) {
          const buffer = borrowBuffer()
          try {
            const length = Math.min(buffer.bytes.byteLength, this.#sizeBytes - position)
            const bytes = await readPart(this.file, buffer.bytes, { length, position })
            if (bytes === 0) throw new Error(`${this.path} was truncated while it was read`)
            position += bytes
            yield buffer.bytes.subarray(0, bytes)
          } finally {
            buffer.giveBack()
          }
        } else if (this.#end === undefined) {
          await this.#waitForGrowth()
        } else if ('error' in this.#end) {
          throw this.#end.error
        } else {
          break
        }
      }
    } finally {
      onLeave()
    }
  }

  #waitForGrowth(): Promise<void> {
    const grown = new Promise<void>((resolve) => {
      this.#waiting.add(resolve)
    })
    this.#timer ??= setTimeout(() => this.#poll(), this.#pauseMs)
    return grown
  }

  #poll(): void {
    this.#timer = undefined
    if (this.#end !== undefined) return
    const { size } = fstatSync(this.file)
    if (size > this.#sizeBytes) {
      this.#sizeBytes = size
      this.#pauseMs = POLL_MS_MIN
      this.#wake()
    } else if (this.#waiting.size > 0) {
      this.#pauseMs = Math.min(this.#pauseMs * 1.5, POLL_MS_MAX)
      this.#timer = setTimeout(() => this.#poll(), this.#pauseMs)
    }
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }

  #closeIfDone(): void {
    if (!this.#isReleased || this.#readers > 0 || this.#isClosed) return
    this.#isClosed = true
    closeSync(this.file)
  }
}
