/** Threat: request smuggling, in which bytes after a malformed request run as a request. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { freePort } from '../helpers/free-port.js'
import { startGateway } from '../helpers/gateway.js'
import { type ConverseOptions, converse, type Exchange } from '../helpers/raw-http.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'

const HOST = 'Host: gatehouse.example\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const ONE_CHUNK = '5\r\nhello\r\n0\r\n\r\n'

/** Returns a POST with these header lines besides Host, and this body. */
function post(headers: string, body: string): string {
  return `POST /api/v1/user/repos HTTP/1.1\r\n${HOST}${headers}\r\n${body}`
}

function get(headers: string, start = 'GET /api/v1/user HTTP/1.1'): string {
  return `${start}\r\n${headers}\r\n`
}

/** Complete malformed requests: bytes that follow one in the stream start the next request. */
const REFUSED: Readonly<Record<string, string>> = {
  'two different lengths': post('Content-Length: 5\r\nContent-Length: 0\r\n', 'hello'),
  'two different lengths, the longer one last': post(
    'Content-Length: 0\r\nContent-Length: 5\r\n',
    'hello',
  ),
  'two equal lengths': post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'),
  'an empty length, then a real one': post('Content-Length:\r\nContent-Length: 5\r\n', 'hello'),
  'an empty length': post('Content-Length:\r\n', ''),
  'a length and a coding': post(`Content-Length: 5\r\n${CHUNKED}`, ONE_CHUNK),
  'a coding and a length': post(`${CHUNKED}Content-Length: 5\r\n`, ONE_CHUNK),
  'two codings': post(`${CHUNKED}Transfer-Encoding: identity\r\n`, ONE_CHUNK),
  'two equal codings': post(CHUNKED + CHUNKED, ONE_CHUNK),
  'a list of the same coding': post('Transfer-Encoding: chunked, chunked\r\n', ONE_CHUNK),
  'another coding before chunked': post('Transfer-Encoding: gzip, chunked\r\n', ONE_CHUNK),
  'a coding that only looks like chunked': post('Transfer-Encoding: xchunked\r\n', ONE_CHUNK),
  'a coding with a vertical tab': post('Transfer-Encoding: \x0bchunked\r\n', ONE_CHUNK),
  'the coding identity': post('Transfer-Encoding: identity\r\n', ''),
  'an empty coding': post('Transfer-Encoding:\r\n', ''),
  'a length with a plus': post('Content-Length: +5\r\n', 'hello'),
  'a hexadecimal length': post('Content-Length: 0x5\r\n', 'hello'),
  'a negative length': post('Content-Length: -1\r\n', ''),
  'a list of lengths': post('Content-Length: 5, 5\r\n', 'hello'),
  'a length with a space within': post('Content-Length: 1 1\r\n', 'hello'),
  'a length beyond all numbers': post(`Content-Length: ${'9'.repeat(30)}\r\n`, ''),
  'a folded header': get(`${HOST}X-One: a\r\n b\r\n`),
  'a folded length': post('X-One: a\r\n Content-Length: 5\r\n', 'hello'),
  'a space before the colon': post('Content-Length : 5\r\n', 'hello'),
  'a space before the first header': get(` X: y\r\n${HOST}`),
  'no host': get(''),
  'two hosts': get(HOST + HOST),
  'lines that end with a bare line feed': 'GET /api/v1/user HTTP/1.1\nHost: a\n\n',
  'one line that ends with a bare line feed': get(`${HOST}X-One: a\nX-Two: b\r\n`),
  'HTTP/1.0': get(HOST, 'GET /api/v1/user HTTP/1.0'),
  'an absolute address': get(HOST, 'GET http://gatehouse.example/api/v1/user HTTP/1.1'),
  'a NUL in a header': get(`${HOST}X-One: a\0b\r\n`),
  'a NUL in a name': get(`${HOST}X\0One: a\r\n`),
  'a header of 100 KB': get(`${HOST}X-One: ${'a'.repeat(100_000)}\r\n`),
  '120 headers': get(HOST + 'X-One: a\r\n'.repeat(120)),
}

/**
 * Chunked requests. The listener does not expose the framing of chunks, so malformed ones cannot be
 * distinguished; instead, a connection is closed after any chunked request.
 */
const CLOSED_AFTER: Readonly<Record<string, string>> = {
  'chunk data that ends with XX': post(CHUNKED, '5\r\nhelloXX0\r\n\r\n'),
  'a chunk size without a digit': post(CHUNKED, '\r\nhello\r\n0\r\n\r\n'),
  'a chunk size with an extension': post(CHUNKED, '5;a=b\r\nhello\r\n0\r\n\r\n'),
  'a chunk size beyond all numbers': post(CHUNKED, `${'f'.repeat(17)}\r\nhello\r\n0\r\n\r\n`),
  'a negative chunk size': post(CHUNKED, '-5\r\nhello\r\n0\r\n\r\n'),
  'a trailer': post(CHUNKED, '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'),
  'a well-formed chunked body': post(CHUNKED, ONE_CHUNK),
}

/** Requests that the listener takes for incomplete: it waits for the end of a line. */
const LEFT_WAITING: Readonly<Record<string, string>> = {
  'a carriage return in a header': get(`${HOST}X-One: a\rb\r\n`),
}

/** Wait that is longer than the ten seconds after which the listener closes idle connections. */
const IDLE_MS = 15_000

interface Attempt extends Exchange {
  readonly name: string
  readonly smuggledPath: string
}

const asRequest = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`

/** Sends each request twice: followed by another one in the same write, and in a later write. */
async function attemptAll(
  port: number,
  requests: Readonly<Record<string, string>>,
  options: ConverseOptions = {},
): Promise<readonly Attempt[]> {
  const attempts = Object.entries(requests).flatMap(([name, bytes], index) =>
    ['in the same write', 'later'].map(async (when) => {
      const smuggledPath = `/api/v1/users/behind-${port}-${index}-${bytes.length}-${when.length}`
      const behind = asRequest(smuggledPath)
      const parts = when === 'later' ? [bytes, behind] : [bytes + behind]
      const exchange = await converse(port, parts, options)
      return { ...exchange, name: `${name}, with a request behind it ${when}`, smuggledPath }
    }),
  )
  return await Promise.all(attempts)
}

t.test('a malformed request is refused, and no request after it runs', async (t) => {
  const gateway = await startGateway(t)
  const { port } = gateway
  const log = () => JSON.stringify(gateway.lines)

  await t.test('a request after a well-formed one is answered and logged', async (t) => {
    const path = '/api/v1/users/behind-nothing-bad'
    const wellFormed = post('Content-Length: 5\r\n', 'hello')
    const { statuses } = await converse(port, [wellFormed + asRequest(path)], { waitMs: 500 })
    t.strictSame(statuses, [401, 404])
    t.match(log(), path)
  })

  // The request that waits for the idle timeout runs beside the others.
  const [refused, closed, waiting] = await Promise.all([
    attemptAll(port, REFUSED),
    attemptAll(port, CLOSED_AFTER),
    attemptAll(port, LEFT_WAITING, { waitMs: IDLE_MS }),
  ])
  const lines = log()
  const outcomeOf = ({ name, isClosed, smuggledPath }: Attempt, answer: string) => [
    name,
    answer,
    isClosed ? 'closed' : 'open',
    lines.includes(smuggledPath) ? 'the request behind it ran' : 'nothing else ran',
  ]
  const wanted = ({ name }: Attempt, answer: string) => [name, answer, 'closed', 'nothing else ran']
  const isRefusal = ({ statuses: [status = 0, ...more] }: Attempt) =>
    more.length === 0 && [400, 431, 505].includes(status)
  t.strictSame(
    refused.map((each) => outcomeOf(each, isRefusal(each) ? 'refused' : each.statuses.join())),
    refused.map((each) => wanted(each, 'refused')),
    'a malformed request is refused, and the connection is closed',
  )
  t.strictSame(
    closed.map((each) => outcomeOf(each, each.statuses.length <= 1 ? 'answered once' : 'twice')),
    closed.map((each) => wanted(each, 'answered once')),
    'a chunked request is answered once, and the connection is closed',
  )
  t.strictSame(
    waiting.map((each) => outcomeOf(each, each.statuses.join())),
    waiting.map((each) => wanted(each, '')),
    'an incomplete request is not answered, and the connection is closed',
  )
})

t.test('behind nginx, the server runs no request that nginx did not send', async (t) => {
  const gateway = await startGateway(t)
  const log = () => JSON.stringify(gateway.lines)
  const nginx = await startNginx(t, gateway.port)
  await converse(nginx.port, [asRequest('/api/v1/users/behind-nothing-bad')], { waitMs: 500 })
  t.match(log(), '/api/v1/users/behind-nothing-bad', 'nginx forwards requests')
  const attempts = await attemptAll(nginx.port, { ...REFUSED, ...CLOSED_AFTER }, { waitMs: 1_000 })
  const passedOn = await nginx.passedOn()
  const lines = log()
  const smuggled = attempts.filter(({ smuggledPath }) => {
    const sent = passedOn.filter((path) => path === smuggledPath).length
    return lines.split(smuggledPath).length - 1 > sent
  })
  t.strictSame(
    smuggled.map(({ name }) => name),
    [],
  )
})

interface Nginx {
  readonly port: number
  /** Returns the path of every request that nginx has sent to the server. */
  passedOn(): Promise<readonly string[]>
}

/** Starts an nginx that forwards bodies unbuffered and keeps its connections to the server open. */
async function startNginx(t: Test, backendPort: number): Promise<Nginx> {
  const folder = await temporaryFolder(t)
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  const configuration = `daemon off; pid ${folder}/pid; user root; events {}
    http { ${temporary} log_format passed '$upstream_status $request_uri';
      access_log ${folder}/access.log passed;
      upstream gatehouse { server 127.0.0.1:${backendPort}; keepalive 8; }
      server { listen 127.0.0.1:${port}; location / { proxy_pass http://gatehouse;
        proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_request_buffering off; proxy_buffering off; } } }`
  await writeFile(join(folder, 'nginx.conf'), configuration)
  const log = join(folder, 'access.log')
  const flags = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]
  const child = spawn('nginx', flags, { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const probe = `GET /livez HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`
  const isUp = async () => (await converse(port, [probe])).statuses.length > 0
  await until(async () => existsSync(log) && (await isUp()), Boolean, 10_000)
  return {
    port,
    async passedOn() {
      const lines = (await readFile(log, 'utf8')).split('\n')
      return lines.filter((line) => /^\d/.test(line)).map((line) => line.split(' ')[1] ?? '')
    },
  }
}
