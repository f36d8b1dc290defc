/** Types of seek-bzip, which has none: its methods that decompress block by block. */

declare module 'seek-bzip' {
  interface Input {
    /** Returns the next byte. */
    readByte(): number
    /** Fills the buffer and returns the number of bytes read. */
    read(buffer: Buffer, offset: number, bytes: number): number
  }

  interface Output {
    writeByte(byte: number): void
  }

  class Bunzip {
    /** Reads the header of a stream. Like all methods, throws errors with an `errorCode`. */
    constructor(input: Input, output: Output)
    readonly reader: { read(bits: number): number }
    readonly streamCRC: number
    /** Reads the header of the next block. Returns false at the end of the stream. */
    _init_block(): boolean
    /** Writes the content of the block. */
    _read_bunzip(): void
    /** Reads the header of the next stream. */
    _start_bunzip(input: Input, output: Output): void
  }

  export = Bunzip
}
