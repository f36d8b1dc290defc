/** Buffers that files are read into: large while few are lent, small when many are. */

import { read } from 'node:fs'
import { promisify } from 'node:util'

const readAt = promisify(read)

/** What all readers of a process may hold together, about. */
const LENT_BYTES_MAX = 25_165_824
/** Each a multiple of the smallest. Each read costs the way to another thread and back. */
const SIZES_BYTES = [1_048_576, 524_288, 131_072, 65_536] as const
const SPARE_MAX = 16

const spare = new Map<number, Uint8Array[]>()
let lentBytes = 0

export interface BorrowedBuffer {
  readonly bytes: Uint8Array
  /** To be called once; then the memory may serve another reader. */
  giveBack(): void
}

/** A buffer to read into: a smaller one, the more is lent already. */
export function borrowBuffer(): BorrowedBuffer {
  const leftBytes = LENT_BYTES_MAX - lentBytes
  const sizeBytes = SIZES_BYTES.find((size) => size * 16 <= leftBytes) ?? SIZES_BYTES[3]
  const bytes = spare.get(sizeBytes)?.pop() ?? new Uint8Array(sizeBytes)
  lentBytes += sizeBytes
  return {
    bytes,
    giveBack() {
      lentBytes -= sizeBytes
      const shelf = spare.get(sizeBytes) ?? []
      if (shelf.length < SPARE_MAX) shelf.push(bytes)
      spare.set(sizeBytes, shelf)
    },
  }
}

export interface FilePart {
  readonly start: number
  /** The first byte that is not wanted. */
  readonly end: number
  /** What is thrown when the file ends before. */
  readonly cutShort: () => Error
}

/**
 * The bytes of an open file in chunks of 64 KiB to 1 MiB, but for the last one. A chunk is the
 * reader's until it asks for the next.
 */
export async function* readChunks(
  file: number,
  { start, end, cutShort }: FilePart,
): AsyncGenerator<Uint8Array, void> {
  let position = start
  while (position < end) {
    const buffer = borrowBuffer()
    try {
      const wanted = Math.min(buffer.bytes.byteLength, end - position)
      const { bytesRead } = await readAt(file, buffer.bytes, 0, wanted, position)
      if (bytesRead !== wanted) throw cutShort()
      position += bytesRead
      yield buffer.bytes.subarray(0, bytesRead)
    } finally {
      buffer.giveBack()
    }
  }
}
