/** Decompression of bzip2 streams, block by block, with a limit on the output. */

import { setImmediate as nextTick } from 'node:timers/promises'
import Bunzip from 'seek-bzip'
import { Failure } from '../../conf/failures.js'
import { bounded } from './compress.js'

/**
 * Decompresses one or more bzip2 streams. Throws `bad_request` if they are damaged or truncated, or
 * contain more than `bytesMax` bytes. The library decompresses a block synchronously, which takes
 * about 100 ms and 20 MiB of memory. A block that is made for it can contain 47 MiB and take a
 * third of a second.
 */
export function bunzip2(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  return bounded(unpackBlocks(chunks), bytesMax)
}

async function* unpackBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  const input = openInput(iterator)
  const output = collectOutput()
  try {
    await input.fill()
    const bunzip = attempt(() => new Bunzip(input, output))
    for (;;) {
      await input.fill()
      const isBlock = attempt(() => unpackBlock(bunzip))
      yield* output.take()
      // A block takes long, so other work runs between two blocks.
      await nextTick()
      if (isBlock) continue
      await input.fill()
      if (input.isEnded()) return
      attempt(() => bunzip._start_bunzip(input, output))
    }
  } finally {
    await iterator.return?.()
  }
}

/**
 * Decompresses the next block. Returns false at the end of the stream, after checking the CRC of
 * the whole stream, which follows the last block.
 */
function unpackBlock(bunzip: Bunzip): boolean {
  if (bunzip._init_block()) {
    bunzip._read_bunzip()
    return true
  }
  if (bunzip.reader.read(32) >>> 0 !== bunzip.streamCRC) throw damaged()
  return false
}

/** Synchronous input for the library, which cannot wait for bytes. */
interface Input {
  readByte(): number
  read(buffer: Buffer, offset: number, bytes: number): number
  /** Buffers enough bytes for a block, or all that follow. Must run before each block. */
  fill(): Promise<void>
  isEnded(): boolean
}

/** Maximum compressed size of a block: 32,767 groups of 50 symbols of 20 bits, and the tables. */
const BLOCK_BYTES_MAX = 4_194_304

function openInput(iterator: AsyncIterator<Uint8Array>): Input {
  let ready = Buffer.alloc(0)
  let at = 0
  let hasMore = true

  async function fill(): Promise<void> {
    let bytes = ready.length - at
    if (bytes >= BLOCK_BYTES_MAX || !hasMore) return
    const parts: Uint8Array[] = [ready.subarray(at)]
    while (bytes < 2 * BLOCK_BYTES_MAX && hasMore) {
      const { done, value } = await iterator.next()
      hasMore = done !== true
      if (done === true) break
      parts.push(value)
      bytes += value.byteLength
    }
    ready = Buffer.concat(parts)
    at = 0
  }

  function readByte(): number {
    const byte = ready[at]
    if (byte === undefined) throw damaged()
    at += 1
    return byte
  }

  function read(buffer: Buffer, offset: number, bytes: number): number {
    for (let index = 0; index < bytes; index += 1) buffer[offset + index] = readByte()
    return bytes
  }

  return { fill, readByte, read, isEnded: () => !hasMore && at === ready.length }
}

const OUTPUT_CHUNK_BYTES = 65_536

function collectOutput() {
  let full: Buffer[] = []
  let filling = Buffer.alloc(OUTPUT_CHUNK_BYTES)
  let at = 0

  function writeByte(byte: number): void {
    if (at === OUTPUT_CHUNK_BYTES) {
      full.push(filling)
      filling = Buffer.alloc(OUTPUT_CHUNK_BYTES)
      at = 0
    }
    filling[at] = byte
    at += 1
  }

  function take(): readonly Buffer[] {
    const taken = [...full, filling.subarray(0, at)]
    full = []
    filling = Buffer.alloc(OUTPUT_CHUNK_BYTES)
    at = 0
    return taken
  }

  return { writeByte, take }
}

function attempt<Result>(step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    if (error instanceof Error && 'errorCode' in error) throw damaged(error)
    throw error
  }
}

function damaged(cause?: unknown): Failure {
  return new Failure('bad_request', 'The bzip2 data is damaged or truncated.', { cause })
}
