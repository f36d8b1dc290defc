/** A cache of documents that depend on one package, built once for each of its generations. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Reply, Request } from '../conf/http.js'
import type { Package } from '../conf/package.js'
import { conditionStatus, entityTag, lastModifiedTime } from './conditions.js'
import type { DocumentOptions } from './package-store.js'

export interface Documents {
  /** Returns a reply with a document of the package; `of` must have been read for this request. */
  answer(of: Package, request: Pick<Request, 'headers'>, options: DocumentOptions): Promise<Reply>
}

interface Document {
  readonly body: Buffer
  readonly tag: string
}

const MEMORY_BYTES_MAX = 33_554_432
const OVERHEAD_BYTES = 200

/** Creates the cache of recently requested documents. */
export function createDocuments(now: () => number = Date.now): Documents {
  const kept = new LRUCache<string, Document, () => Promise<string>>({
    maxSize: MEMORY_BYTES_MAX,
    sizeCalculation: ({ body }) => body.byteLength + OVERHEAD_BYTES,
    // Concurrent requests for one document share one build.
    fetchMethod: async (_key, _stale, { context: make }) => describe(await make()),
  })
  return {
    async answer(of, request, { kind, contentType, headers = [], source, make }) {
      const state = source === undefined ? '' : ` ${source.url} ${source.state}`
      const key = `${of.id} ${of.generation} ${kind}${state}`
      const found = await kept.forceFetch(key, { context: make })
      const changedAtMs = source === undefined ? lastModifiedTime(of.changedAtMs, now()) : undefined
      const validators: Array<readonly [string, string]> = [
        ['ETag', found.tag],
        // The document can be private, so shared caches must not store it and clients revalidate.
        ['Cache-Control', 'private, no-cache'],
        ['Vary', 'Authorization'],
        ['X-Content-Type-Options', 'nosniff'],
      ]
      if (changedAtMs !== undefined) {
        validators.push(['Last-Modified', new Date(changedAtMs).toUTCString()])
      }
      const { tag } = found
      const conditions = changedAtMs === undefined ? { tag } : { tag, changedAtMs }
      const status = conditionStatus(request.headers, conditions)
      if (status !== undefined) return { status, headers: [...validators, ...headers] }
      return {
        status: 200,
        headers: [['Content-Type', contentType], ...validators, ...headers],
        body: found.body,
      }
    },
  }
}

function describe(text: string): Document {
  const body = Buffer.from(text)
  const tag = entityTag(createHash('sha256').update(body).digest('hex').slice(0, 32))
  return { body, tag }
}
