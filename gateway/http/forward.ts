/** Passes on to `http.upstream` what no native route serves: the room that knows http-proxy. */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { proxyFetch } from 'http-proxy'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'

const UPSTREAM_TIMEOUT_MS = 120_000

/** Meant for one connection only, so they end here (RFC 9110 §7.6.1). */
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
])

/** A function that lets the upstream answer. It throws `bad_gateway` when the upstream does not. */
export function createForwarder(upstream: URL): (request: Request) => Promise<Reply> {
  const isTls = upstream.protocol === 'https:'
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const basePath = upstream.pathname.replace(/\/+$/, '')
  return async (request) => {
    const query = request.query === '' ? '' : `?${request.query}`
    const url = `${upstream.origin}${basePath}${request.path}${query}`
    // Dot segments are resolved on the way; none may lead out of the upstream's own path.
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

/** Any method may have a body; what says so is its framing (RFC 9112 §6). */
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
  // Node gives a body no framing of its own where the method rarely has one: it would be read as
  // the next request.
  if (request.headers.has('transfer-encoding')) headers.set('transfer-encoding', 'chunked')
  headers.set('x-forwarded-for', request.address)
  headers.set('x-forwarded-proto', request.scheme)
  headers.set('x-forwarded-host', request.headers.get('host') ?? '')
  headers.set('x-request-id', request.id)
  return headers
}

/** The stream reads ahead, so it keeps chunks for longer than they are its own. */
async function* copied(body: Request['body']): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Buffer.from(chunk)
}
