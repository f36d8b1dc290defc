/** Real proxies accept the example configurations and forward requests as their comments say. */

import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  request as requestPlain,
  type ServerResponse,
} from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../helpers/free-port.js'
import {
  REVERSE_PROXIES,
  type ReverseProxyName,
  startReverseProxy,
} from '../helpers/reverse-proxy.js'

/** Size above the limit that Apache has by default. */
const HUGE_BYTES = 3_000_000_000

/** Pause of a slow answer. */
const SLOW_MS = 3_000

/** A backend that records requests, because the gateway does not show their bytes. */
interface Backend {
  readonly port: number
  /** Handler of further requests. */
  handle: (request: IncomingMessage, response: ServerResponse) => void
}

interface Site {
  readonly name: ReverseProxyName
  readonly port: number
  readonly plainPort: number
  readonly backend: Backend
}

for (const name of REVERSE_PROXIES) {
  t.test(`${name} forwards requests as its example says`, async (t) => {
    const backend = await startBackend(t)
    const [port, plainPort] = [await freePort(), await freePort()]
    await startReverseProxy(t, name, { port, plainPort, gatewayPort: backend.port })
    await forwardingConforms(t, { name, port, plainPort, backend })
  })
}

async function startBackend(t: Test): Promise<Backend> {
  const server = createServer((request, response) => backend.handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const backend: Backend = { port, handle: (_, response) => response.end() }
  return backend
}

/** Sends an HTTPS request whose response is streamed. */
function begin(
  port: number,
  path: string,
  options: { method?: string; headers?: object; agent?: Agent } = {},
) {
  const { method = 'GET', headers = {}, agent = false } = options
  return request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent,
    rejectUnauthorized: false,
    headers: { host: 'code.example.org', ...headers },
  })
}

async function ask(
  port: number,
  path: string,
  headers: object = {},
  agent?: Agent,
): Promise<IncomingMessage> {
  const asked = begin(port, path, agent === undefined ? { headers } : { headers, agent })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response
}

async function forwardingConforms(t: Test, site: Site): Promise<void> {
  const { port, plainPort, backend } = site

  await t.test("the backend receives HTTP/1.1, the host and the client's address", async (t) => {
    const seen: IncomingMessage[] = []
    backend.handle = (request, response) => {
      seen.push(request)
      response.end()
    }
    await ask(port, '/a/%2e%2e/b%2Fc?d', {
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example',
      proxy: 'http://evil/',
    })
    const last = seen.at(-1)
    t.equal(last?.httpVersion, '1.1')
    t.equal(last?.url, '/a/%2e%2e/b%2Fc?d', 'the path arrives as it was sent')
    t.match(last?.headers, {
      host: 'code.example.org',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'code.example.org',
    })
    t.equal(last?.headers['x-forwarded-for'], '127.0.0.1', 'not the header of the client')
    t.equal(last?.headers['proxy'], undefined)
    t.equal(last?.headers['accept-encoding'], undefined, 'no header that the client did not send')
  })

  await t.test('connections to the backend are kept open', async (t) => {
    const ports = new Set<number | undefined>()
    backend.handle = ({ socket }, response) => {
      ports.add(socket.remotePort)
      response.end()
    }
    // HAProxy sends the first request of each client on a new connection.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; count < 20; count++) await ask(port, '/', {}, agent)
    agent.destroy()
    t.ok(ports.size < 20)
  })

  await t.test('an answer arrives with the ETag and the bytes of the backend', async (t) => {
    const headers = { ETag: '"a"', 'Content-Type': 'text/plain', 'Content-Length': '5000' }
    backend.handle = (_, response) => response.writeHead(200, headers).end('a'.repeat(5_000))
    const answer = await ask(port, '/', { 'accept-encoding': 'gzip' })
    t.match(answer.headers, { etag: '"a"', 'content-length': '5000' })
  })

  await t.test('a slow answer is streamed', async (t) => {
    const answer: { end?: () => void } = {}
    backend.handle = (_, response) => {
      response.write('progress')
      answer.end = () => response.end('the rest')
    }
    const clone = begin(port, '/clone')
    clone.end()
    const [response] = (await once(clone, 'response')) as [IncomingMessage]
    const [first] = (await once(response, 'data')) as [Buffer]
    t.equal(String(first), 'progress', 'before the response has ended')
    await sleep(SLOW_MS)
    answer.end?.()
    const [second] = (await once(response, 'data')) as [Buffer]
    t.equal(String(second), 'the rest')
  })

  await t.test('a body of 3 GB is accepted with 100 Continue', async (t) => {
    backend.handle = ({ socket }, response) => {
      response.on('close', () => socket.destroy())
    }
    const headers = { 'content-length': HUGE_BYTES, expect: '100-continue' }
    const upload = begin(port, '/push', { method: 'POST', headers })
    upload.on('error', () => {})
    upload.flushHeaders()
    const refused = once(upload, 'response').then(([{ statusCode }]) => statusCode)
    t.equal(
      await Promise.race([once(upload, 'continue').then(() => 'accepted'), refused]),
      'accepted',
    )
    upload.destroy()
  })

  await t.test('a long token fits into the headers', async (t) => {
    backend.handle = (_, response) => response.end()
    const { statusCode } = await ask(port, '/', { authorization: `Bearer ${'x'.repeat(15_500)}` })
    t.equal(statusCode, 200)
  })

  await t.test('HTTP is redirected to HTTPS with the same path', async (t) => {
    const path = '/a/b%2Fc?d=%2F'
    const headers = { host: 'code.example.org' }
    const asked = requestPlain({ host: '127.0.0.1', port: plainPort, path, headers, agent: false })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    t.ok([301, 308].includes(response.statusCode ?? 0))
    t.equal(response.headers.location, `https://code.example.org${path}`)
  })

  await t.test('a chunked upload is forwarded', (t) => uploadConforms(t, site))
}

/** Checks that an upload reaches the backend while it is sent; only nginx buffers it. */
async function uploadConforms(t: Test, { name, port, backend }: Site): Promise<void> {
  let arrive = () => {}
  const arrived = new Promise<string>((resolve) => {
    arrive = () => resolve('streamed')
  })
  let bytes = 0
  backend.handle = (request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes >= 1_000_000) arrive()
    })
    request.on('end', () => response.end())
  }
  const upload = begin(port, '/push', { method: 'POST' })
  for (let part = 0; part < 3; part++) upload.write(Buffer.alloc(1_000_000))
  if (name === 'nginx') {
    await sleep(500)
    t.equal(bytes, 0, 'nothing arrives before the upload is complete')
  } else {
    t.equal(await arrived, 'streamed', 'before the upload is complete')
  }
  upload.end()
  const [response] = (await once(upload, 'response')) as [IncomingMessage]
  response.resume()
  t.equal(response.statusCode, 200)
  t.equal(bytes, 3_000_000)
}
