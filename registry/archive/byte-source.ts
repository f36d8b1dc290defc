/** Bytes that can be read anywhere, such as those of a file: what the readers of archives read. */

export interface ByteSource {
  readonly bytes: number
  /**
   * The bytes from `start` on, as many as asked for or as there are; a copy that is the caller's.
   * Rejects when they cannot be read.
   */
  read(start: number, bytes: number): Promise<Buffer>
  /** All of them, or those from `start` on and before `end`; a chunk is the reader's own. */
  stream(start?: number, end?: number): AsyncIterable<Uint8Array>
}
