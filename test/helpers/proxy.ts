/** A proxy in front of a server that forwards requests or misbehaves as a test requires. */

import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Function that may answer a request itself; it returns true if it did. */
export type Misbehave = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Proxy {
  readonly port: number
  /** Handler of further requests; initially, all are forwarded. */
  misbehave: Misbehave
}

/** Starts a proxy until the end of the test; `port` is the port of the server behind it. */
export async function startProxy(t: Teardown, port: number): Promise<Proxy> {
  const server = createServer((request, response) => {
    if (proxy.misbehave(request, response)) return
    const { method, url, headers } = request
    const onward = requestOf({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: Proxy = { port: (server.address() as AddressInfo).port, misbehave: () => false }
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return proxy
}
