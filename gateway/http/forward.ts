/** Reverse proxy to `http.upstream` for requests that no native route serves. */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { proxyFetch } from 'http-proxy'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'

const UPSTREAM_TIMEOUT_MS = 120_000

/**
 * Headers that are not forwarded: those of one connection (RFC 9110 §7.6.1), and the one with which
 * a proxy in front would send a file of the gateway.
 */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-accel-redirect',
])

/**
 * Returns a function that forwards a request to the upstream. It throws `bad_gateway` if the
 * upstream does not answer, and `bad_request` for a path that leaves the upstream's base path.
 */
export function createForwarder(upstream: URL): (request: Request) => Promise<Reply> {
  const isTls = upstream.protocol === 'https:'
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const basePath = upstream.pathname.replace(/\/+$/, '')
  return async (request) => {
    const query = request.query === '' ? '' : `?${request.query}`
    const url = `${upstream.origin}${basePath}${request.path}${query}`
    // The client library resolves dot segments; the result must be below the upstream's base path.
    if (!URL.canParse(url) || !new URL(url).pathname.startsWith(`${basePath}/`)) {
      throw new Failure('bad_request', 'The address is malformed.')
    }
    try {
      const response = await proxyFetch(
        upstream.origin,
        url,
        {
          method: request.method,
          headers: requestHeaders(request),
          signal: request.signal,
          ...(hasBody(request)
            ? { body: ReadableStream.from(copied(request.body)), duplex: 'half' }
            : {}),
        } as RequestInit,
        { agent, timeout: UPSTREAM_TIMEOUT_MS },
      )
      return {
        status: response.status,
        headers: [...response.headers].filter(([name]) => !HOP_HEADERS.has(name)),
        ...(response.body === null ? {} : { body: response.body }),
      }
    } catch (cause) {
      throw new Failure('bad_gateway', 'The upstream server did not answer.', { cause })
    }
  }
}

/** True if the headers announce a body, which any method may have (RFC 9112 §6). */
function hasBody({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || headers.has('content-length')
}

function requestHeaders(request: Request): Headers {
  const headers = new Headers()
  const named =
    request.headers
      .get('connection')
      ?.toLowerCase()
      .split(/\s*,\s*/) ?? []
  for (const [name, value] of request.headers) {
    if (!HOP_HEADERS.has(name) && !named.includes(name)) headers.set(name, value)
  }
  // For methods that rarely have a body, Node sends the body without framing, and the upstream
  // would read it as the next request.
  if (request.headers.has('transfer-encoding')) headers.set('transfer-encoding', 'chunked')
  headers.set('x-forwarded-for', request.address)
  headers.set('x-forwarded-proto', request.scheme)
  headers.set('x-forwarded-host', request.headers.get('host') ?? '')
  headers.set('x-request-id', request.id)
  return headers
}

/** Copies each chunk, because the stream reads ahead and a chunk is valid only until the next. */
async function* copied(body: Request['body']): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Buffer.from(chunk)
}
