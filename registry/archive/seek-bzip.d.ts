/** The parts of seek-bzip, which has no types, that unpack one block after the other. */

declare module 'seek-bzip' {
  interface Input {
    /** The next byte. */
    readByte(): number
    /** Fills the buffer; returns how many bytes it got. */
    read(buffer: Buffer, offset: number, bytes: number): number
  }

  interface Output {
    writeByte(byte: number): void
  }

  class Bunzip {
    /** Reads the head of a stream. Throws an error with `errorCode`, as the others do. */
    constructor(input: Input, output: Output)
    readonly reader: { read(bits: number): number }
    readonly streamCRC: number
    /** Reads the next block; false when the stream has no more. */
    _init_block(): boolean
    /** Writes what the block holds. */
    _read_bunzip(): void
    /** Reads the head of the stream that follows. */
    _start_bunzip(input: Input, output: Output): void
  }

  export = Bunzip
}
