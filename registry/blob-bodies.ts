/** Blobs as reply bodies: small blobs from a memory cache, larger ones streamed from storage. */

import { LRUCache } from 'lru-cache'
import type { Reply } from '../conf/http.js'
import type { BlobStorage, ByteRange } from './storage/storage.js'

export interface BlobBodies {
  /** Returns the bytes of a range. Throws the errors of `BlobStorage.open`. */
  bodyOf(blob: Blob, part: ByteRange): Promise<NonNullable<Reply['body']>>
}

export interface Blob {
  readonly blobKey: string
  /** Size of the whole blob. */
  readonly bytes: number
}

/** Maximum size of cached blobs. For these, file operations cost more than the rest of a reply. */
const SMALL_BYTES_MAX = 65_536
const MEMORY_BYTES_MAX = 16_777_216
const OVERHEAD_BYTES = 200

/** Creates the cache of recently used small blobs. Entries never expire: blobs are immutable. */
export function createBlobBodies(storage: Pick<BlobStorage, 'open'>): BlobBodies {
  const kept = new LRUCache<string, Buffer, number>({
    maxSize: MEMORY_BYTES_MAX,
    sizeCalculation: ({ byteLength }) => byteLength + OVERHEAD_BYTES,
    // Concurrent requests for one blob share one read.
    fetchMethod: (key, _stale, { context: bytes }) => readWhole(storage, key, bytes),
  })
  return {
    async bodyOf({ blobKey, bytes }, part) {
      // An empty body needs no read from the storage.
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
