/** Streaming reader of tar archives, which writes nothing to the disk. */

import { ReadableStream } from 'node:stream/web'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { Failure } from '../../conf/failures.js'
import { quote } from './zip-paths.js'

export interface TarEntry {
  /** Unchecked path from the archive, such as `./a`, `/a` or `../a`. */
  readonly path: string
  readonly bytes: number
  readonly kind: 'file' | 'folder' | 'other'
  /**
   * Returns the content. Can be called once, and only before the next entry is read; the content of
   * other entries is skipped. Throws `bad_request` if it is larger than `bytesMax` or damaged.
   */
  read(bytesMax: number): Promise<Buffer>
}

export interface TarLimits {
  readonly entriesMax: number
  /** Maximum size of all headers: 512 bytes for each entry, and more for extended headers. */
  readonly headerBytesMax: number
}

/**
 * Reads the entries in order, in constant memory. Throws `bad_request` if the archive is damaged or
 * truncated, does not end with two zero blocks, or exceeds `limits`. If a format omits the zero
 * blocks, its reader appends `TAR_END` to the chunks; additional zeros are allowed.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  limits: TarLimits,
): AsyncGenerator<TarEntry, void, undefined> {
  const source = limitHeaders(chunks, limits.headerBytesMax)
  const entries = ReadableStream.from(source.chunks).pipeThrough(createTarDecoder({ strict: true }))
  let count = 0
  try {
    for await (const entry of entries) {
      count += 1
      if (count > limits.entriesMax) {
        const limit = `more than ${limits.entriesMax} entries`
        throw new Failure('bad_request', `The tar archive has ${limit}.`)
      }
      source.subtractBody(entry.header.size)
      yield describe(entry, source.failureOf)
      if (!entry.body.locked) await entry.body.cancel()
    }
  } catch (error) {
    throw source.failureOf(error)
  } finally {
    // A stream whose reader stops closes its source only when another chunk arrives.
    await source.chunks.return()
  }
}

/** Maximum number of bytes that the library reads ahead of the entries that it returns. */
const READ_AHEAD_BYTES = 2_097_152

/**
 * Limits the size of the headers. The library reads any number of headers, of any size, before it
 * returns an entry. So this counts all bytes that are not part of an entry's body, which include
 * the bytes read ahead.
 */
function limitHeaders(chunks: AsyncIterable<Uint8Array>, headerBytesMax: number) {
  let nonBodyBytes = 0
  let sourceError: unknown

  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of chunks) {
        nonBodyBytes += chunk.byteLength
        if (nonBodyBytes > headerBytesMax + READ_AHEAD_BYTES) {
          const mib = Math.ceil(headerBytesMax / 1_048_576)
          throw new Failure('bad_request', `The headers of the tar archive exceed ${mib} MiB.`)
        }
        yield chunk
      }
    } catch (error) {
      sourceError = error
      throw error
    }
  }

  return {
    chunks: counted(),
    subtractBody(bodyBytes: number): void {
      nonBodyBytes -= bodyBytes
    },
    /** Returns `bad_request` for an error of the library; errors of its source are unchanged. */
    failureOf(error: unknown): unknown {
      if (error instanceof Failure || error === sourceError) return error
      const why = error instanceof Error ? error.message : String(error)
      return new Failure('bad_request', `The tar archive cannot be read: ${why}`, { cause: error })
    },
  }
}

function describe(
  { header, body }: ParsedTarEntry,
  failureOf: (error: unknown) => unknown,
): TarEntry {
  if (header.name.includes('\0')) {
    const name = quote(header.name)
    throw new Failure('bad_request', `The tar archive has a NUL character in the path ${name}.`)
  }
  // The stored bytes of a sparse file are not its content.
  if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
    const name = quote(header.name)
    const advice = 'create the archive without --sparse'
    throw new Failure('bad_request', `The tar archive has a sparse file ${name}: ${advice}.`)
  }
  return {
    path: header.name,
    bytes: header.size,
    kind: kindOf(header.type),
    async read(bytesMax) {
      if (header.size > bytesMax) {
        const name = quote(header.name)
        throw new Failure('bad_request', `${name} in the archive has more than ${bytesMax} bytes.`)
      }
      const parts: Uint8Array[] = []
      try {
        for await (const part of body) parts.push(part)
      } catch (error) {
        throw failureOf(error)
      }
      return Buffer.concat(parts)
    },
  }
}

function kindOf(type: ParsedTarEntry['header']['type']): TarEntry['kind'] {
  if (type === 'file') return 'file'
  return type === 'directory' ? 'folder' : 'other'
}
