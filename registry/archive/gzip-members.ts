/** Reading of single members of a gzip file, with their exact ends (RFC 1952 §2). */

import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw } from 'node:zlib'
import { Failure } from '../../conf/failures.js'
import type { ByteSource } from './byte-source.js'
import { bounded, isZlibError } from './compress.js'

export interface GzipMember<Result> {
  /** Result of the callback that read the content. */
  readonly result: Result
  /** Offset of the next member or of the end of the file. */
  readonly end: number
}

export interface GzipMemberOptions {
  /** Offset of the member. */
  readonly start: number
  /** Maximum size of the decompressed content. */
  readonly bytesMax: number
}

/**
 * Passes the content of a member to `read`, which may stop early, and finds the member's end, in
 * constant memory. Throws `bad_request` if the member is damaged or truncated, or contains more
 * than `bytesMax` bytes, and any error of `read`.
 */
export async function readGzipMember<Result>(
  source: ByteSource,
  { start, bytesMax }: GzipMemberOptions,
  read: (content: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<GzipMember<Result>> {
  const member = openMember(source, await findDeflated(source, start))
  const content = bounded(member.content, bytesMax)
  try {
    // The end is known only after the whole content, so a reader that stops must not close it.
    const result = await read({ [Symbol.asyncIterator]: () => ({ next: () => content.next() }) })
    for await (const _ of content);
    return { result, end: await member.end() }
  } finally {
    await content.return()
  }
}

/** Maximum size of a member's header, far more than programs write. */
const HEADER_BYTES_MAX = 65_536

const FIXED_HEADER_BYTES = 10
const TRAILER_BYTES = 8
const [FHCRC, FEXTRA, FNAME, FCOMMENT, RESERVED] = [2, 4, 8, 16, 0xe0]

/** Returns the offset of the deflated data, after the header (RFC 1952 §2.3). */
async function findDeflated(source: ByteSource, start: number): Promise<number> {
  const head = await source.read(start, HEADER_BYTES_MAX)
  const [flags = RESERVED] = head.subarray(3)
  const isGzip = head.subarray(0, 3).equals(Buffer.from([0x1f, 0x8b, 8]))
  if (!isGzip || head.length < FIXED_HEADER_BYTES || (flags & RESERVED) !== 0) throw damaged()
  let at = FIXED_HEADER_BYTES
  if (flags & FEXTRA) at += 2 + readUInt16(head, at)
  for (const text of [FNAME, FCOMMENT]) {
    if ((flags & text) === 0) continue
    const end = head.indexOf(0, at)
    if (end === -1) throw damaged()
    at = end + 1
  }
  if (flags & FHCRC) {
    if (readUInt16(head, at) !== (crc32(head.subarray(0, at)) & 0xffff)) throw damaged()
    at += 2
  }
  return start + at
}

function readUInt16(head: Buffer, at: number): number {
  if (at + 2 > head.length) throw damaged()
  return head.readUInt16LE(at)
}

const INFLATED_CHUNK_BYTES = 65_536

function openMember(source: ByteSource, start: number) {
  const inflating = createInflateRaw({ chunkSize: INFLATED_CHUNK_BYTES })
  let sum = 0
  let bytes = 0

  async function* content(): AsyncGenerator<Uint8Array> {
    // The pipeline rejects with the error that the loop below throws, or because the source is
    // not read to its end.
    pipeline(source.stream(start), inflating).catch(() => undefined)
    try {
      for await (const chunk of inflating) {
        sum = crc32(chunk, sum)
        bytes += chunk.byteLength
        yield chunk
      }
    } catch (error) {
      throw isZlibError(error) ? damaged(error) : error
    } finally {
      inflating.destroy()
    }
  }

  return {
    content: content(),
    /**
     * Returns the offset of the member's end. Must be called after the whole content was read.
     * Throws `bad_request` if its checksum or size is wrong.
     */
    async end(): Promise<number> {
      const end = start + inflating.bytesWritten
      const trailer = await source.read(end, TRAILER_BYTES)
      if (trailer.length < TRAILER_BYTES) throw damaged()
      const isIntact =
        trailer.readUInt32LE(0) === sum && trailer.readUInt32LE(4) === bytes % 2 ** 32
      if (!isIntact) throw damaged()
      return end + TRAILER_BYTES
    },
  }
}

function damaged(cause?: unknown): Failure {
  return new Failure('bad_request', 'The gzip data is damaged or truncated.', { cause })
}
