/** Fetches of protocol v2 that git answers: read to their end, with all objects that they want. */

import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import { Spill } from '../http/spill.js'
import { isLine, PacketReader } from './pkt-line.js'

/** Maximum number of objects that a request may want. */
const WANTS_MAX = 200_000
/** Bytes of a request that are kept in memory; the rest is written to a temporary file. */
const MEMORY_BYTES_MAX = 262_144
const CHUNK_BYTES = 65_536

const WANT = /^want ([0-9a-f]{40}|[0-9a-f]{64})$/

/** A request that was read to its end. */
export interface WholeFetch {
  /** Ids of the wanted objects. */
  readonly wants: readonly string[]
  /** Yields the request again, once. A chunk is valid until the next one is requested. */
  replay(): AsyncGenerator<Uint8Array>
  /** Removes the temporary file, which ends a replay. */
  close(): void
}

/**
 * Reads a request to its end. Git is more lenient than this: it would accept a want in another
 * notation, which could not be checked. Throws UploadPackError if the request is malformed, and
 * `payload_too_large` if it wants more than WANTS_MAX objects.
 */
export async function readWholeFetch(chunks: AsyncIterable<Uint8Array>): Promise<WholeFetch> {
  const reader = new PacketReader()
  const wants = new Set<string>()
  const beginning: Buffer[] = []
  let bytes = 0
  let file: Spill | undefined
  const close = () => {
    file?.close()
    file = undefined
  }
  try {
    for await (const chunk of chunks) {
      const copy = Buffer.from(chunk)
      const packets = reader.push(copy)
      if (packets === undefined) throw new UploadPackError('a packet has no valid length')
      for (const line of packets.filter(isLine)) addWant(wants, line)
      bytes += chunk.byteLength
      if (bytes > MEMORY_BYTES_MAX) file ??= new Spill()
      if (file === undefined) beginning.push(copy)
      else file.append(chunk)
    }
    if (!reader.isBetween) throw new UploadPackError('the request ends within a packet')
  } catch (error) {
    close()
    throw error
  }
  const replay = async function* () {
    yield* beginning
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    while (file !== undefined && file.unreadBytes > 0) yield await file.take(buffer)
  }
  return { wants: [...wants], replay, close }
}

function addWant(wants: Set<string>, line: string): void {
  if (!line.startsWith('want ')) return
  const [, oid] = WANT.exec(line) ?? []
  if (oid === undefined) throw new UploadPackError('a want is not the id of an object')
  wants.add(oid)
  if (wants.size > WANTS_MAX) {
    throw new Failure('payload_too_large', 'The request names too many objects.')
  }
}
