/** Parsed requests by their bytes, because many clients send identical requests. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type NormalRequest, normalize } from './normal-request.js'

const REQUESTS_MAX = 500
const REQUESTS_BYTES_MAX = 16_777_216

/** Maximum size of a request that is its own key; longer ones have a digest as key. */
const SHORT_BYTES_MAX = 2_048

/** A parsed request, and its approximate size in memory. */
interface KnownRequest {
  readonly request: NormalRequest
  readonly bytes: number
}

export class KnownRequests {
  readonly #requests = new LRUCache<string, KnownRequest>({
    max: REQUESTS_MAX,
    maxSize: REQUESTS_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  })
  #last:
    | { readonly version: 0 | 2; readonly body: Buffer; readonly request: NormalRequest }
    | undefined

  /** Returns the normal form of a request; undefined if it has none. */
  read(body: Buffer, version: 0 | 2): NormalRequest | undefined {
    const last = this.#last
    if (last?.version === version && last.body.equals(body)) return last.request
    const request = this.#find(body, version)
    if (request !== undefined) this.#last = { version, body, request }
    return request
  }

  #find(body: Buffer, version: 0 | 2): NormalRequest | undefined {
    const isShort = body.byteLength <= SHORT_BYTES_MAX
    const text = isShort ? body.toString('latin1') : createHash('sha256').update(body).digest('hex')
    const key = version + text
    const known = this.#requests.get(key)
    if (known !== undefined) return known.request
    const request = normalize(body, version)
    // The parsed request has its lines twice.
    const bytes = 3 * body.byteLength + 1
    if (request !== undefined) this.#requests.set(key, { request, bytes })
    return request
  }
}
