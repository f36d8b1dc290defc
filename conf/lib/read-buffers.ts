/** Reads files in chunks, with pooled buffers that become smaller as more are in use. */

import { closeSync, open, openSync, read, readSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'

const openInPool = promisify(open)
const readInPool = promisify(read)

/** Reads that take longer were from disk. One of a megabyte from the page cache takes a tenth. */
const MEMORY_READ_MS_MAX = 2
/** Number of reads in the thread pool after a slow one, before the next synchronous read. */
const POOL_READS = 32

let poolReads = 0

/**
 * Reads a part of an open file and returns its length. Reads synchronously in a new event-loop
 * tick, because a read from the page cache is faster than a switch to another thread. A read from
 * disk would block all requests, so the reads after a slow one use the thread pool.
 */
export async function readPart(
  file: number,
  into: Uint8Array,
  { length, position }: { readonly length: number; readonly position: number },
): Promise<number> {
  if (poolReads > 0) {
    poolReads -= 1
    return (await readInPool(file, into, 0, length, position)).bytesRead
  }
  await new Promise((resolve) => setImmediate(resolve))
  const startedAtMs = performance.now()
  const bytes = readSync(file, into, 0, length, position)
  if (performance.now() - startedAtMs > MEMORY_READ_MS_MAX) poolReads = POOL_READS
  return bytes
}

/**
 * Opens a file for reading: synchronously, except after a slow read. Throws the system's error.
 * `closeSync` closes it, which needs no disk.
 */
export async function openToRead(path: string): Promise<number> {
  if (poolReads > 0) return await openInPool(path, 'r')
  const startedAtMs = performance.now()
  const file = openSync(path, 'r')
  if (performance.now() - startedAtMs > MEMORY_READ_MS_MAX) poolReads = POOL_READS
  return file
}

/**
 * Opens a file, reads a small part of it and closes it, synchronously: three tasks of the thread
 * pool would cost more than the rest of a short reply. Returns the length; undefined, without a
 * read, after a slow read. Throws the system's error.
 */
export function readSmallPart(
  path: string,
  into: Uint8Array,
  position: number,
): number | undefined {
  if (poolReads > 0) return undefined
  const startedAtMs = performance.now()
  const file = openSync(path, 'r')
  try {
    return readSync(file, into, 0, into.byteLength, position)
  } finally {
    closeSync(file)
    if (performance.now() - startedAtMs > MEMORY_READ_MS_MAX) poolReads = POOL_READS
  }
}

/** Approximate maximum size of all borrowed buffers of this process. */
const BORROWED_BYTES_MAX = 25_165_824
/** Buffer sizes, each a multiple of the smallest. */
const SIZES_BYTES = [1_048_576, 524_288, 131_072, 65_536] as const
const SPARE_MAX = 16

const spare = new Map<number, Uint8Array[]>()
let borrowedBytes = 0

export interface BorrowedBuffer {
  readonly bytes: Uint8Array
  /** Returns the memory for reuse. Must be called once. */
  release(): void
}

/** Borrows a buffer, which is smaller if more is borrowed already. */
export function borrowBuffer(): BorrowedBuffer {
  const leftBytes = BORROWED_BYTES_MAX - borrowedBytes
  const sizeBytes = SIZES_BYTES.find((size) => size * 16 <= leftBytes) ?? SIZES_BYTES[3]
  const bytes = spare.get(sizeBytes)?.pop() ?? new Uint8Array(sizeBytes)
  borrowedBytes += sizeBytes
  return {
    bytes,
    release() {
      borrowedBytes -= sizeBytes
      const store = spare.get(sizeBytes) ?? []
      if (store.length < SPARE_MAX) store.push(bytes)
      spare.set(sizeBytes, store)
    },
  }
}

export interface FilePart {
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
  /** Creates the error that is thrown if the file is shorter. */
  readonly cutShort: () => Error
}

/**
 * Yields a part of an open file in chunks of 64 KiB to 1 MiB; the last one may be smaller. A chunk
 * is valid until the next one is requested.
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
      const bytes = await readPart(file, buffer.bytes, { length: wanted, position })
      if (bytes !== wanted) throw cutShort()
      position += bytes
      yield buffer.bytes.subarray(0, bytes)
    } finally {
      buffer.release()
    }
  }
}
