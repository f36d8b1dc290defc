/** Decompression of gzip files as a stream, with a limit on the output. */

import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Failure } from '../../conf/failures.js'

/** Passes chunks on. Throws `bad_request` if they have more than `bytesMax` bytes together. */
export async function* bounded(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      throw new Failure('bad_request', `The archive contains more than ${bytesMax} bytes of data.`)
    }
    yield chunk
  }
}

/**
 * Decompresses one or more gzip members (RFC 1952 §2.2). Throws `bad_request` if they are damaged
 * or truncated, or contain more than `bytesMax` bytes.
 */
export function gunzip(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  return bounded(inflate(chunks), bytesMax)
}

const INFLATED_CHUNK_BYTES = 65_536

async function* inflate(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const inflating = createGunzip({ chunkSize: INFLATED_CHUNK_BYTES })
  // The pipeline rejects with the error that the loop below throws, or if the reader stops early.
  pipeline(chunks, inflating).catch(() => undefined)
  try {
    for await (const chunk of inflating) yield chunk as Buffer
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw new Failure('bad_request', 'The gzip data is damaged or truncated.', { cause: error })
  }
}

/** Returns true for the errors that node:zlib throws for damaged or truncated data. */
export function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
