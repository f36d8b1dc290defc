/** Requests without a route are forwarded completely, except for hop-by-hop headers. */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Request } from '../../../conf/http.js'
import { createForwarder } from '../../../gateway/http/forward.js'
import { NO_BODY, readBody } from '../../../gateway/http/incoming-body.js'

interface Arrived {
  readonly request: IncomingMessage
  readonly body: string
}

/** Starts an upstream that answers 201 with some headers and records its requests. */
async function startUpstream(t: Test): Promise<{ url: URL; arrived: Arrived[] }> {
  const arrived: Arrived[] = []
  const server = createServer(async (request, response) => {
    const body = (await readBody(request, 10_000_000)).toString()
    arrived.push({ request, body })
    response.writeHead(201, {
      'X-Page': 'yes',
      'Keep-Alive': 'timeout=9',
      'Set-Cookie': 'a=b',
      // With it, a proxy in front would send a file of the gateway.
      'X-Accel-Redirect': '/-/internal/secret.key',
    })
    response.end('a page')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: new URL(`http://127.0.0.1:${port}/base/`), arrived }
}

const aRequest = (fields: Partial<Request>): Request => ({
  id: 'r-1',
  method: 'GET',
  path: '/x',
  query: '',
  headers: new Map(),
  body: NO_BODY,
  address: '192.0.2.1',
  scheme: 'https',
  signal: new AbortController().signal,
  ...fields,
})

t.test(
  'method, path, query, headers and body are forwarded without hop-by-hop headers',
  async (t) => {
    const { url, arrived } = await startUpstream(t)
    const forward = createForwarder(url)
    const headers = new Map([
      ['accept', 'text/html'] as const,
      ['cookie', 'c=d'] as const,
      ['te', 'trailers'] as const,
      ['x-forwarded-for', '6.6.6.6'] as const,
      ['upgrade', 'websocket'] as const,
      ['content-length', '7'] as const,
    ])
    const body = (async function* () {
      yield Buffer.from('one ')
      yield Buffer.from('two')
    })()
    const reply = await forward(
      aRequest({ method: 'PUT', path: '/a%2Fb/c', query: 'q=%20&r', headers, body }),
    )
    t.equal(reply.status, 201)
    const replied = Object.fromEntries(reply.headers ?? [])
    t.match(replied, { 'x-page': 'yes', 'set-cookie': 'a=b' })
    const dropped = ['keep-alive', 'connection', 'x-accel-redirect']
    t.notOk(dropped.some((name) => name in replied))
    t.equal((await readBody(reply.body as AsyncIterable<Uint8Array>, 100)).toString(), 'a page')
    const [seen] = arrived
    t.equal(seen?.request.method, 'PUT')
    t.equal(seen?.request.url, '/base/a%2Fb/c?q=%20&r')
    t.equal(seen?.body, 'one two')
    const given = seen?.request.headers ?? {}
    t.match(given, { accept: 'text/html', cookie: 'c=d', 'x-forwarded-for': '192.0.2.1' })
    t.match(given, { 'x-forwarded-proto': 'https', 'x-request-id': 'r-1' })
    t.notOk('te' in given || 'upgrade' in given)
  },
)

t.test('an upstream that does not answer is a bad gateway', async (t) => {
  const server = createServer((request) => request.socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const forward = createForwarder(new URL(`http://127.0.0.1:${port}`))
  await t.rejects(forward(aRequest({})), { message: 'The upstream server did not answer.' })
  server.close()
  await once(server, 'close')
  await t.rejects(forward(aRequest({})), { message: 'The upstream server did not answer.' })
})
