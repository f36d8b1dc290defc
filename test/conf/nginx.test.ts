/** A real nginx accepts the example configuration and proxies as its comments say. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../helpers/free-port.js'

const EXAMPLE = new URL('../../../conf/nginx.example.conf', import.meta.url)

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Starts nginx with the example in front of `handler`, on free ports and with its own certificate.
 */
async function startProxy(t: Test, handler: Handler): Promise<number> {
  const backend = createServer(handler).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  t.teardown(() => {
    backend.closeAllConnections()
    backend.close()
  })
  const { port: backendPort } = backend.address() as AddressInfo
  const port = await freePort()
  const folder = t.testdir({ tmp: {} })
  const subject = ['-subj', '/CN=code.example.org', '-days', '2', '-nodes', '-newkey', 'rsa:2048']
  const certificate = ['-x509', '-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`]
  execFileSync('openssl', ['req', ...subject, ...certificate], { stdio: 'ignore' })
  const example = readFileSync(EXAMPLE, 'utf8')
    .replace('server 127.0.0.1:3000;', `server 127.0.0.1:${backendPort};`)
    .replace('/etc/ssl/certs/code.example.org.pem', `${folder}/cert.pem`)
    .replace('/etc/ssl/private/code.example.org.key', `${folder}/key.pem`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replace(/listen \[::\]:.*;/g, '')
  const bodies = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const folders = bodies.map((name) => `${name}_temp_path ${folder}/tmp/${name};`).join(' ')
  // Without "user" the workers of root could not write here; nginx ignores it for other users.
  const main = `daemon off; pid ${folder}/pid; user root; events {}`
  const http = `http { access_log off; ${folders} ${example} }`
  writeFileSync(`${folder}/nginx.conf`, `${main} ${http}`)
  const options = ['-p', folder, '-c', `${folder}/nginx.conf`, '-e', `${folder}/error.log`]
  execFileSync('nginx', ['-t', ...options], { stdio: 'pipe' })
  const nginx = spawn('nginx', options, { stdio: 'ignore' })
  t.teardown(async () => {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  })
  for (let tries = 0; tries < 100; tries++) {
    const isUp = await ask(port, '/up').then(Boolean, () => false)
    if (isUp) return port
    await sleep(50)
  }
  throw new Error('nginx did not start')
}

/** Sends an HTTPS request whose response is streamed. */
function begin(port: number, path: string, options: { method?: string; headers?: object } = {}) {
  const { method = 'GET', headers = {} } = options
  return request({
    host: '127.0.0.1',
    port,
    path,
    method,
    rejectUnauthorized: false,
    headers: { host: 'code.example.org', ...headers },
  })
}

async function ask(port: number, path: string, headers: object = {}): Promise<IncomingMessage> {
  const asked = begin(port, path, { headers })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response
}

t.test("the gateway receives HTTP/1.1 with the host name and the client's address", async (t) => {
  const seen: IncomingMessage[] = []
  const port = await startProxy(t, (request, response) => {
    seen.push(request)
    response.end()
  })
  await ask(port, '/a/%2e%2e/b%2Fc?d', { 'x-forwarded-for': '10.0.0.1', proxy: 'http://evil/' })
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
})

t.test('an upload is buffered completely and has no size limit', async (t) => {
  let arrivedAt = 0
  let bytes = 0
  const port = await startProxy(t, (request, response) => {
    if (request.method === 'POST') arrivedAt = Date.now()
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => response.end())
  })
  const upload = begin(port, '/push', { method: 'POST' })
  for (let part = 0; part < 4; part++) {
    upload.write(Buffer.alloc(1_000_000))
    await sleep(100)
  }
  const sentAt = Date.now()
  t.equal(arrivedAt, 0, 'nothing arrives before the upload is complete')
  upload.end()
  const [response] = (await once(upload, 'response')) as [IncomingMessage]
  response.resume()
  t.equal(response.statusCode, 200)
  t.ok(arrivedAt >= sentAt)
  t.equal(bytes, 4_000_000)
})

t.test('a response is streamed without buffering', async (t) => {
  const answer: { end?: () => void } = {}
  const port = await startProxy(t, (request, response) => {
    if (request.url !== '/clone') return response.end()
    response.write('progress')
    answer.end = () => response.end('the rest')
    return undefined
  })
  const clone = begin(port, '/clone')
  clone.end()
  const [response] = (await once(clone, 'response')) as [IncomingMessage]
  const [first] = (await once(response, 'data')) as [Buffer]
  t.equal(String(first), 'progress', 'before the response has ended')
  answer.end?.()
  const [second] = (await once(response, 'data')) as [Buffer]
  t.equal(String(second), 'the rest')
})

t.test('a long token fits into the headers', async (t) => {
  const port = await startProxy(t, (_, response) => response.end())
  const { statusCode } = await ask(port, '/', { authorization: `Bearer ${'x'.repeat(12_000)}` })
  t.equal(statusCode, 200)
})
