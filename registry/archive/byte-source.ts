/** Random access to bytes, such as those of a file: the input of all archive readers. */

export interface ByteSource {
  readonly bytes: number
  /**
   * Returns a copy of up to `bytes` bytes from `start` on; fewer only at the end. Rejects if they
   * cannot be read.
   */
  read(start: number, bytes: number): Promise<Buffer>
  /** Streams the bytes from `start` up to, but not including, `end`. Chunks are not reused. */
  stream(start?: number, end?: number): AsyncIterable<Uint8Array>
}
