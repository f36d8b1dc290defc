/** The log of a task: rows without secrets and of bounded length. */

import type { Masker } from '../runner-protocol/masker.js'
import { LINE_BYTES_MAX } from './line-splitter.js'
import type { LogSender } from './log-sender.js'

/** Receives the rows of a task. */
export class TaskLog {
  readonly #sender: LogSender
  readonly #masker: Masker

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
    for (const line of this.#masker.mask(text).split(/\r?\n/)) this.#sender.add(cut(line))
  }

  /** Adds a line of a step's output, in which `::add-mask::TEXT` declares a secret. */
  addOutput(line: string): void {
    const [, secret] = /^\s*::add-mask::(.*)$/.exec(line) ?? []
    if (secret === undefined) {
      this.add(line)
      return
    }
    this.#masker.add(decodeCommand(secret))
    this.#sender.add('::add-mask::***')
  }

  /** True if the text has a secret. */
  hasSecret(text: string): boolean {
    return this.#masker.mask(text) !== text
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

/** Decodes the escapes of a workflow command. */
function decodeCommand(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
}
