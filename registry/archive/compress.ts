/** What gzip packed, as it was: streamed, and never more of it than the reader allows. */

import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Failure } from '../../conf/failures.js'

/** Passes bytes on. Throws `bad_request` when there are more than `bytesMax`. */
export async function* bounded(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      throw new Failure('bad_request', `The archive holds more than ${bytesMax} bytes.`)
    }
    yield chunk
  }
}

/**
 * What one or more gzip members hold (RFC 1952 §2.2). Throws `bad_request` when they are damaged or
 * cut off, or hold more than `bytesMax`.
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
  // It rejects with what the loop below is thrown, or because the reader left.
  pipeline(chunks, inflating).catch(() => undefined)
  try {
    for await (const chunk of inflating) yield chunk as Buffer
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw new Failure('bad_request', 'The gzip data is damaged or cut off.', { cause: error })
  }
}

/** Whether that is what node:zlib throws of data that is damaged or cut off. */
export function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
