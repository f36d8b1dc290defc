/** An open file that is read in windows, which stay in memory until it is closed. */

import { closeSync } from 'node:fs'
import { openToRead, readPart } from '../../conf/lib/read-buffers.js'

/** Size of a window. Commits lie side by side in a pack, as do the trees, so many share one. */
const WINDOW_BYTES = 32_768

export class WindowedFile {
  readonly #file: number
  readonly #windows = new Map<number, Promise<Buffer>>()
  readonly #onWindow: (bytes: number) => void

  private constructor(file: number, onWindow: (bytes: number) => void) {
    this.#file = file
    this.#onWindow = onWindow
  }

  /** Opens a file. `onWindow` is called before each window is read, and may throw. */
  static async open(path: string, onWindow: (bytes: number) => void): Promise<WindowedFile> {
    return new WindowedFile(await openToRead(path), onWindow)
  }

  /** Returns the bytes from a position on; fewer than `length` at the end of the file. */
  async bytes(position: number, length: number): Promise<Buffer> {
    const first = position - (position % WINDOW_BYTES)
    const window = await this.#windowAt(first)
    const end = position + length - first
    if (end <= WINDOW_BYTES) return window.subarray(position - first, end)
    const parts = [window.subarray(position - first)]
    for (let at = WINDOW_BYTES; at < end; at += WINDOW_BYTES) {
      parts.push((await this.#windowAt(first + at)).subarray(0, end - at))
    }
    return Buffer.concat(parts)
  }

  /** Closes the file. No read may be running, and none may follow. */
  close(): void {
    closeSync(this.#file)
  }

  #windowAt(position: number): Promise<Buffer> {
    const known = this.#windows.get(position)
    if (known !== undefined) return known
    const window = this.#read(position)
    this.#windows.set(position, window)
    return window
  }

  async #read(position: number): Promise<Buffer> {
    this.#onWindow(WINDOW_BYTES)
    const buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES)
    const length = await readPart(this.#file, buffer, { length: WINDOW_BYTES, position })
    return buffer.subarray(0, length)
  }
}
