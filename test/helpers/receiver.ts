/** A real HTTP server that records requests and answers them as a test requires. */

import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export interface Receiver {
  readonly port: number
  /** Base URL with the address 127.0.0.1. */
  readonly url: string
  readonly received: readonly Received[]
  /** Returns the number of connections so far, with or without a request. */
  connections(): number
}

export interface ReceiverOptions {
  /** Port; by default a free one. */
  readonly port?: number
  /** Writes the reply; by default 204 without a body. */
  readonly answer?: (response: ServerResponse, received: Received) => void
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** Listens on 127.0.0.1 until the test ends. */
export async function startReceiver(t: Teardown, options: ReceiverOptions = {}): Promise<Receiver> {
  const { tls, answer = (response) => response.writeHead(204).end() } = options
  const received: Received[] = []
  const state = { connections: 0 }
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { method = '', url: path = '', headers, rawHeaders } = request
    const one = { method, path, headers, rawHeaders, body: Buffer.concat(chunks) }
    received.push(one)
    answer(response, one)
  }
  const server = tls === undefined ? createServer(take) : createTlsServer(tls, take)
  server.on('connection', () => {
    state.connections += 1
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const scheme = tls === undefined ? 'http' : 'https'
  return {
    port,
    received,
    url: `${scheme}://127.0.0.1:${port}`,
    connections: () => state.connections,
  }
}
