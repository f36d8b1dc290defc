/** A part of an answer, for a client that has the rest of it already (RFC 9110 §14). */

export interface ByteRange {
  /** Of the first byte. */
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

const RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/

/**
 * What `Range` asks for of so many bytes. Undefined where all of it is to be sent: for no range,
 * and for several, which a server may ignore. `outside`: there is nothing where it asks.
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

/** That part of what comes in chunks. */
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
