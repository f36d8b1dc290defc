/** A tar archive, entry by entry while its bytes arrive: nothing is unpacked to a disk. */

import { ReadableStream } from 'node:stream/web'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { Failure } from '../../conf/failures.js'

export interface TarEntry {
  /** As it stands in the archive, which may be `./a`, `/a` or `../a`. */
  readonly path: string
  readonly bytes: number
  readonly kind: 'file' | 'folder' | 'other'
  /**
   * All of it. To be asked once and before the next entry; what is not asked for is passed over.
   * Throws `bad_request` when it is larger than `bytesMax` or damaged.
   */
  read(bytesMax: number): Promise<Buffer>
}

export interface TarLimits {
  readonly entriesMax: number
  /** Bytes of all headers together, of which an entry has 512 and more for what does not fit. */
  readonly headerBytesMax: number
}

/**
 * The entries in their order, in memory that does not grow with the archive. Throws `bad_request`
 * when it is damaged or cut off, has no end mark, or has more entries or headers than `limits`.
 * Where a format leaves the mark out, 1,024 zeros after the chunks stand for it: more do no harm.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  limits: TarLimits,
): AsyncGenerator<TarEntry, void, undefined> {
  const source = watch(chunks, limits.headerBytesMax)
  const entries = ReadableStream.from(source.chunks).pipeThrough(createTarDecoder({ strict: true }))
  let count = 0
  try {
    for await (const entry of entries) {
      count += 1
      if (count > limits.entriesMax) {
        throw new Failure('bad_request', `The archive has more than ${limits.entriesMax} entries.`)
      }
      source.explain(entry.header.size)
      yield describe(entry, source.nameOf)
      if (!entry.body.locked) await entry.body.cancel()
    }
  } catch (error) {
    throw source.nameOf(error)
  } finally {
    // A stream whose reader leaves tells it to its source with the next chunk, if there is one.
    await source.chunks.return()
  }
}

/** How far the library reads ahead of the entries that it hands out. */
const READ_AHEAD_BYTES = 2_097_152

/**
 * What goes into the library. It takes headers one after the other without an end, and each at a
 * stretch, so what is neither the body of an entry nor read ahead is counted here.
 */
function watch(chunks: AsyncIterable<Uint8Array>, headerBytesMax: number) {
  let unexplainedBytes = 0
  let sourceError: unknown

  async function* watched(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of chunks) {
        unexplainedBytes += chunk.byteLength
        if (unexplainedBytes > headerBytesMax + READ_AHEAD_BYTES) {
          const mib = Math.ceil(headerBytesMax / 1_048_576)
          throw new Failure('bad_request', `The headers of the archive exceed ${mib} MiB.`)
        }
        yield chunk
      }
    } catch (error) {
      sourceError = error
      throw error
    }
  }

  return {
    chunks: watched(),
    explain(bodyBytes: number): void {
      unexplainedBytes -= bodyBytes
    },
    /** What the library throws is the archive's fault, and what its source throws is not. */
    nameOf(error: unknown): unknown {
      if (error instanceof Failure || error === sourceError) return error
      const why = error instanceof Error ? error.message : String(error)
      return new Failure('bad_request', `The tar archive cannot be read: ${why}`, { cause: error })
    },
  }
}

function describe({ header, body }: ParsedTarEntry, nameOf: (error: unknown) => unknown): TarEntry {
  if (header.name.includes('\0')) {
    throw new Failure('bad_request', 'A path in the archive has a NUL character.')
  }
  // What is stored of one is not what it holds.
  if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
    throw new Failure('bad_request', 'The archive has sparse files, which cannot be read here.')
  }
  return {
    path: header.name,
    bytes: header.size,
    kind: kindOf(header.type),
    async read(bytesMax) {
      if (header.size > bytesMax) {
        throw new Failure('bad_request', `A file in the archive has more than ${bytesMax} bytes.`)
      }
      const parts: Uint8Array[] = []
      try {
        for await (const part of body) parts.push(part)
      } catch (error) {
        throw nameOf(error)
      }
      return Buffer.concat(parts)
    },
  }
}

function kindOf(type: ParsedTarEntry['header']['type']): TarEntry['kind'] {
  if (type === 'file') return 'file'
  return type === 'directory' ? 'folder' : 'other'
}
