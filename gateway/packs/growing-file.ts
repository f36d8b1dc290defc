/** A file that git writes while several clients read it, each at its own pace. */

import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { readOnce } from '../../conf/lib/chunks.js'
import { borrowBuffer, readPart } from '../../conf/lib/read-buffers.js'

/** Interval at which the file's size is read while readers wait; it grows if the file does not. */
const POLL_MS_MIN = 4
const POLL_MS_MAX = 8

/** Result of the writing: the length of the complete file, or the error that prevented it. */
export type WriteEnd = { readonly bytes: number } | { readonly error: unknown }

/** A file with one writer and any number of readers, which wait for bytes not yet written. */
export class GrowingFile {
  readonly path: string
  /** File descriptor, open for reading, and for writing if this process writes. */
  readonly file: number
  /** Callback that runs each time the number of readers falls to zero. */
  onUnread: () => void = () => {}
  #end: WriteEnd | undefined
  #sizeBytes = 0
  #readers = 0
  #isReleased = false
  #isClosed = false
  #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #pauseMs = POLL_MS_MIN

  /**
   * Opens the file. A writer creates it, and its folder if that was removed; a reader needs it to
   * exist. Throws the error of `open`.
   */
  constructor(path: string, role: 'writer' | 'reader') {
    this.path = path
    this.file = role === 'writer' ? createFile(path) : openSync(path, 'r')
  }

  get readers(): number {
    return this.#readers
  }

  /** True if the file was released and its last reader has left, so that it is closed. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Reports that the file is complete or has failed. Calls after the first have no effect. */
  end(end: WriteEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    if ('bytes' in end) this.#sizeBytes = end.bytes
    this.#wake()
  }

  /**
   * Declares that `open` is not called any more. The file is closed when its last reader leaves.
   */
  release(): void {
    this.#isReleased = true
    this.#closeIfDone()
  }

  /**
   * Waits for the first byte, the end of the writing, or the abort of the signal. Throws the
   * writer's error if the writing failed before the first byte.
   */
  async begun(signal: AbortSignal): Promise<void> {
    while (this.#sizeBytes === 0 && this.#end === undefined && !signal.aborted) {
      await this.#waitForGrowth()
    }
    if (this.#sizeBytes === 0 && this.#end !== undefined && 'error' in this.#end) {
      throw this.#end.error
    }
  }

  /**
   * Returns a reader that begins at the first byte. It counts as a reader from now on, so the
   * caller must read it to its end or call `return`. It ends early if the signal aborts, and throws
   * the writer's error if the writing failed. A chunk is valid until the next one is requested.
   * Must not be called on a closed file.
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
    // A reader that waits for more bytes checks the signal only when it is woken.
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
            buffer.release()
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

function createFile(path: string): number {
  const { O_CREAT, O_EXCL, O_RDWR } = constants
  const open = () => openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o640)
  try {
    return open()
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) throw error
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
    return open()
  }
}
