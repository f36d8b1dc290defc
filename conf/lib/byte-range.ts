/** Byte ranges: parts of a response that a client requests with `Range` (RFC 9110 §14). */

export interface ByteRange {
  /** Offset of the first byte. */
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/

/**
 * Returns the range that a `Range` header selects of a body of `bytes` bytes, or `outside` if the
 * body has no byte there. Returns undefined if the whole body is to be sent: without a header, or
 * for a malformed or a multiple range, which a server may ignore.
 */
export function readByteRange(
  header: string | undefined,
  bytes: number,
): ByteRange | 'outside' | undefined {
  const [whole, first, last, tail] = RANGE.exec(header ?? '') ?? []
  if (whole === undefined) return undefined
  const start = first === undefined ? Math.max(0, bytes - Number(tail)) : Number(first)
  const end = last === undefined ? bytes : Math.min(bytes, Number(last) + 1)
  if (last !== undefined && Number(last) < start) return undefined
  return start < end ? { start, end } : 'outside'
}

/** Yields the bytes of the range from a body in chunks, and reads no further than its end. */
export async function* cutRange(
  chunks: AsyncIterable<Uint8Array>,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  let position = 0
  for await (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, start - position), Math.max(0, end - position))
    position += chunk.byteLength
    if (part.byteLength > 0) yield part
    if (position >= end) return
  }
}
