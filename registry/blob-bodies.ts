/** Blobs as bodies of answers: small ones whole from memory, larger ones as they are read. */

import { LRUCache } from 'lru-cache'
import type { Reply } from '../conf/http.js'
import type { BlobStorage, ByteRange } from './storage/storage.js'

export interface BlobBodies {
  /** The bytes of a part. Throws as the storage does. */
  bodyOf(blob: Blob, part: ByteRange): Promise<NonNullable<Reply['body']>>
}

export interface Blob {
  readonly blobKey: string
  /** Of the whole. */
  readonly bytes: number
}

/** To open, read and close a file costs more than all the rest of an answer of that size. */
const SMALL_BYTES_MAX = 65_536
const MEMORY_BYTES_MAX = 16_777_216
const OVERHEAD_BYTES = 200

/** Keeps the small blobs that were asked for last: a blob never changes under its key. */
export function createBlobBodies(storage: Pick<BlobStorage, 'open'>): BlobBodies {
  const kept = new LRUCache<string, Buffer, number>({
    maxSize: MEMORY_BYTES_MAX,
    sizeCalculation: ({ byteLength }) => byteLength + OVERHEAD_BYTES,
    // Several who want one at a time wait for the same.
    fetchMethod: (key, _stale, { context: bytes }) => readWhole(storage, key, bytes),
  })
  return {
    async bodyOf({ blobKey, bytes }, part) {
      // An empty body is no stream, and no reason to ask the storage.
      if (part.start === part.end) return ''
      if (bytes > SMALL_BYTES_MAX) return storage.open(blobKey, part)
      const whole = kept.get(blobKey) ?? (await kept.forceFetch(blobKey, { context: bytes }))
      return whole.subarray(part.start, part.end)
    },
  }
}

async function readWhole(
  storage: Pick<BlobStorage, 'open'>,
  key: string,
  bytes: number,
): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes)
  let filled = 0
  for await (const chunk of await storage.open(key, { start: 0, end: bytes })) {
    whole.set(chunk, filled)
    filled += chunk.byteLength
  }
  return whole
}
