/** Requests sent as written: without normalised paths, followed redirects or added headers. */

import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface RawRequest {
  readonly method?: string
  /** Path and query, sent unchanged. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Body; a list is sent with chunked transfer coding, one chunk per element. */
  readonly body?: Uint8Array | string | readonly Uint8Array[]
  /** Agent; by default, every request uses a new connection. */
  readonly agent?: Agent
  /** Local address of the connection. */
  readonly localAddress?: string
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Sends a request to a port of 127.0.0.1. Rejects if the connection ends before the reply. */
export function askRaw(port: number, raw: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', path, headers = {}, body, agent, localAddress } = raw
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: headers as Record<string, string>,
        agent: agent ?? new Agent({ keepAlive: false }),
        ...(localAddress === undefined ? {} : { localAddress }),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const status = response.statusCode ?? 0
          resolve({ status, headers: response.headers, body: Buffer.concat(chunks) })
        })
      },
    )
    outgoing.on('error', reject)
    // Node sets the framing of a body itself only for methods that usually have one.
    if (Array.isArray(body)) {
      outgoing.setHeader('Transfer-Encoding', 'chunked')
      for (const chunk of body) outgoing.write(chunk)
      return outgoing.end()
    }
    if (body !== undefined)
      outgoing.setHeader('Content-Length', Buffer.byteLength(body as Uint8Array))
    return outgoing.end(body)
  })
}

/** Returns a reply without the headers that differ between equal requests: date and request id. */
export function comparablePart({ status, headers, body }: RawAnswer) {
  const lasting = Object.entries(headers).filter(([name]) => !/^(?:date|x-request-id)$/.test(name))
  return { status, headers: Object.fromEntries(lasting), body: body.toString() }
}

/** Returns Basic credentials as a header. */
export function basic(name: string, password: string): { readonly authorization: string } {
  const encoded = Buffer.from(`${name}:${password}`).toString('base64')
  return { authorization: `Basic ${encoded}` }
}
