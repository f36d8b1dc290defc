/** Splits the output of a process into lines of bounded length. */

/** Maximum number of bytes of a line of which a row is made. */
export const LINE_BYTES_MAX = 65_536

/** Bytes of a line that are kept: a secret that begins before the cut is masked completely. */
const KEPT_BYTES_MAX = 2 * LINE_BYTES_MAX

const LINE_FEED = 0x0a

/** Collects bytes, and calls back with each line without its line feed. */
export class LineSplitter {
  readonly #onLine: (line: string) => void
  #parts: Buffer[] = []
  #sizeBytes = 0

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  write(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      this.#keep(bytes.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#keep(bytes.subarray(start))
  }

  /** Ends the last line, if it has no line feed. */
  end(): void {
    if (this.#sizeBytes > 0) this.#endLine()
  }

  #keep(bytes: Buffer): void {
    const kept = bytes.subarray(0, KEPT_BYTES_MAX - this.#sizeBytes)
    if (kept.length === 0) return
    this.#parts.push(Buffer.from(kept))
    this.#sizeBytes += kept.length
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts).toString()
    this.#parts = []
    this.#sizeBytes = 0
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}
