/** Fetches of protocol v2 that git answers: read to their end, with all objects that they want. */

import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import { KeptBytes } from './kept-bytes.js'
import { isLine, PacketReader } from './pkt-line.js'

/** Maximum number of objects that a request may want. */
const WANTS_MAX = 200_000

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
  const kept = new KeptBytes()
  try {
    for await (const chunk of chunks) {
      const packets = reader.push(Buffer.from(chunk))
      if (packets === undefined) throw new UploadPackError('a packet has no valid length')
      for (const line of packets.filter(isLine)) addWant(wants, line)
      kept.append(chunk)
    }
    if (!reader.isBetween) throw new UploadPackError('the request ends within a packet')
  } catch (error) {
    kept.close()
    throw error
  }
  return { wants: [...wants], replay: () => kept.replay(), close: () => kept.close() }
}

function addWant(wants: Set<string>, line: string): void {
  if (!line.startsWith('want ')) return
  const [, oid] = WANT.exec(line) ?? []
  if (oid === undefined) throw new UploadPackError('a want is not the id of an object')
  wants.add(oid)
  if (wants.size > WANTS_MAX) throw tooManyObjects()
}

export function tooManyObjects(): Failure {
  return new Failure('payload_too_large', 'The request names too many objects.')
}
