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

/** Asks a server on this machine. Rejects when the connection breaks before the answer is whole. */
export function askRaw(port: number, question: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', path, headers = {}, body, agent, localAddress } = question
  return new Promise((resolve, reject) => {
    const asked = request(
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
    asked.on('error', reject)
    // Node frames a body by itself only where the method usually has one.
    if (Array.isArray(body)) {
      asked.setHeader('Transfer-Encoding', 'chunked')
      for (const chunk of body) asked.write(chunk)
      return asked.end()
    }
    if (body !== undefined) asked.setHeader('Content-Length', Buffer.byteLength(body as Uint8Array))
    return asked.end(body)
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
