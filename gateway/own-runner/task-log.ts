/** The log of a task: rows without secrets and of bounded length. */

import type { Masker } from '../runner-protocol/masker.js'
import { LINE_BYTES_MAX } from './line-splitter.js'
import type { LogSender } from './log-sender.js'

/** Maximum number of characters of the texts that steps mask. */
const MASK_CHARACTERS_MAX = 4_194_304

/** Receives the rows of a task. */
export class TaskLog {
  readonly #sender: LogSender
  readonly #masker: Masker
  /** Sum of the lengths of the texts that steps have masked, with their forms in base64. */
  #maskCharacters = 0
  #isHidden = false

  constructor(sender: LogSender, masker: Masker) {
    this.#sender = sender
    this.#masker = masker
  }

  /** Number of rows so far, which is the index of the next one. */
  get rowCount(): number {
    return this.#sender.rowCount
  }

  /** Adds the lines of a text. */
  add(text: string): void {
    for (const line of this.mask(text).split(/\r?\n/)) this.#sender.add(cut(line))
  }

  /** Returns a text without secrets. */
  mask(text: string): string {
    return this.#isHidden && text !== '' ? '***' : this.#masker.mask(text)
  }

  /** Masks a text of a step from now on. If there is too much of it, all later rows are hidden. */
  addMask(secret: string): void {
    const before = this.#masker.characters
    const isShort = Buffer.byteLength(secret) <= LINE_BYTES_MAX
    if (isShort && this.#maskCharacters <= MASK_CHARACTERS_MAX) {
      this.#masker.add(secret)
      this.#maskCharacters += this.#masker.characters - before
    } else if (!this.#isHidden) {
      const single = `a text of more than ${LINE_BYTES_MAX} bytes`
      const all = `texts of more than ${MASK_CHARACTERS_MAX} characters together`
      this.add(`Error: steps mask ${single}, or ${all}; all further rows are hidden.`)
      this.#isHidden = true
    }
  }

  /** True if the text has a secret. */
  hasSecret(text: string): boolean {
    return this.#isHidden || this.#masker.mask(text) !== text
  }

  /** Waits while too many rows are in memory. */
  hasRoom(): Promise<void> {
    return this.#sender.hasRoom()
  }
}

function cut(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES_MAX) return line
  return new TextDecoder().decode(Buffer.from(line).subarray(0, LINE_BYTES_MAX), { stream: true })
}
