/** Byte sources in memory, also with large ranges of zeros that are not stored. */

import type { ByteSource } from '../../registry/archive/byte-source.js'

/** Returns a source that yields copies in small chunks, as a file does. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    bytes: bytes.length,
    async read(start, length) {
      return Buffer.from(bytes.subarray(start, start + length))
    },
    async *stream(start = 0, end = bytes.length) {
      for (let at = start; at < end; at += CHUNK_BYTES) {
        yield Buffer.from(bytes.subarray(at, Math.min(at + CHUNK_BYTES, end)))
      }
    },
  }
}

const CHUNK_BYTES = 1_000

/** Returns a source of `front`, `zeros` zero bytes and `back`, without storing the zeros. */
export function sourceWithHole(front: Buffer, zeros: number, back: Buffer): ByteSource {
  const bytes = front.length + zeros + back.length
  const read = async (start: number, length: number) => {
    const end = Math.min(start + length, bytes)
    const backStart = front.length + zeros
    const first = front.subarray(start, end)
    const last = back.subarray(Math.max(0, start - backStart), Math.max(0, end - backStart))
    const hole = Buffer.alloc(end - start - first.length - last.length)
    return Buffer.concat([first, hole, last])
  }
  return {
    bytes,
    read,
    async *stream(start = 0, end = bytes) {
      const step = 1_048_576
      for (let at = start; at < end; at += step) yield read(at, Math.min(step, end - at))
    },
  }
}
