/** Blobs as reply bodies: small ones from a memory cache, larger ones read from the storage. */

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
/** Maximum size of parts of larger blobs that are read before the reply begins. */
const PART_BYTES_MAX = 16_384
const MEMORY_BYTES_MAX = 16_777_216
const OVERHEAD_BYTES = 200

/** Creates the cache of recently used small blobs. Entries never expire: blobs are immutable. */
export function createBlobBodies(storage: Pick<BlobStorage, 'open'>): BlobBodies {
  const kept = new LRUCache<string, Buffer, number>({
    maxSize: MEMORY_BYTES_MAX,
    sizeCalculation: ({ byteLength }) => byteLength + OVERHEAD_BYTES,
    // Concurrent requests for one blob share one read.
    fetchMethod: (key, _stale, { context: bytes }) =>
      readInto(Buffer.allocUnsafeSlow(bytes), storage, { key, part: { start: 0, end: bytes } }),
  })
  return {
    async bodyOf({ blobKey, bytes }, part) {
      // An empty body needs no read from the storage.
      if (part.start === part.end) return ''
      if (bytes > SMALL_BYTES_MAX) {
        const partBytes = part.end - part.start
        if (partBytes > PART_BYTES_MAX) return storage.open(blobKey, part)
        // Not cached, because other clients want other parts.
        return await readInto(Buffer.allocUnsafe(partBytes), storage, { key: blobKey, part })
      }
      const whole = kept.get(blobKey) ?? (await kept.forceFetch(blobKey, { context: bytes }))
      return whole.subarray(part.start, part.end)
    },
  }
}

async function readInto(
  buffer: Buffer,
  storage: Pick<BlobStorage, 'open'>,
  { key, part }: { readonly key: string; readonly part: ByteRange },
): Promise<Buffer> {
  let filled = 0
  for await (const chunk of await storage.open(key, part)) {
    buffer.set(chunk, filled)
    filled += chunk.byteLength
  }
  return buffer
}
