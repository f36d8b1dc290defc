/** Forwarding of requests that Gatehouse does not serve to the upstream server. */

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../helpers/free-port.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { askRaw, type RawAnswer, type RawRequest } from '../helpers/literal-http.js'
import { converse } from '../helpers/raw-http.js'
import { forgetPeak, memoryOf, until, workersOf } from '../helpers/server-processes.js'

const MEGABYTE = 1_000_000

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  body: Buffer
  isComplete: boolean
  isAborted: boolean
}

interface Upstream {
  readonly port: number
  /** Requests in order of arrival. */
  readonly seen: Seen[]
}

type Answer = (request: IncomingMessage, response: ServerResponse, seen: Seen) => void

/** Port of the upstream behind the shared server; each test starts its own upstream there. */
const upstreamPort = await freePort()

/** Starts a server that by default reads each request and replies `answer of METHOD URL`. */
async function startUpstream(
  t: Test,
  { port = upstreamPort, answer }: { readonly port?: number; readonly answer?: Answer } = {},
): Promise<Upstream> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const entry = {
      method,
      url,
      headers,
      body: Buffer.alloc(0),
      isComplete: false,
      isAborted: false,
    }
    seen.push(entry)
    response.on('close', () => {
      entry.isAborted = !response.writableFinished
    })
    if (answer !== undefined) return answer(request, response, entry)
    void readWhole(request, entry).then(() => response.end(`answer of ${method} ${url}`))
    return undefined
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, seen }
}

async function readWhole(request: IncomingMessage, entry: Seen): Promise<void> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
    entry.isComplete = true
  } catch {
    // The client disconnected; the received bytes are kept, and the request stays incomplete.
  }
  entry.body = Buffer.concat(chunks)
}

/** Starts a server with one worker, because each worker forwards by itself. */
function startInFront(
  t: Parameters<typeof startGatehouse>[0],
  port: number,
  path = '',
): Promise<Gatehouse> {
  return startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_HTTP_UPSTREAM: `http://127.0.0.1:${port}${path}` },
  })
}

const gatehouse = await startInFront(t, upstreamPort)

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

t.test('requests with unknown paths are forwarded to the upstream', async (t) => {
  const upstream = await startUpstream(t)
  const ask = (sent: RawRequest): Promise<RawAnswer> => askRaw(gatehouse.port, sent)
  const last = () => upstream.seen.at(-1)

  await t.test('method, path and query are forwarded', async (t) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const path = '/some/page?a=1&b=%20x'
      const answer = await ask({ method, path })
      t.equal(answer.status, 200)
      t.equal(answer.body.toString(), `answer of ${method} ${path}`)
      t.equal(last()?.body.length, 0)
    }
    const head = await ask({ method: 'HEAD', path: '/some/page' })
    t.equal(head.status, 200)
    t.equal(head.body.length, 0)
    t.equal(last()?.method, 'HEAD')
  })

  await t.test('bodies of a megabyte are forwarded, with Content-Length and chunked', async (t) => {
    const bytes = randomBytes(MEGABYTE)
    const chunks = Array.from({ length: 10 }, (_, at) => bytes.subarray(at * 1e5, (at + 1) * 1e5))
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
      for (const body of [bytes, chunks]) {
        const answer = await ask({ method, path: '/upload', body })
        t.equal(answer.status, 200, method)
        t.equal(digest(last()?.body ?? Buffer.alloc(0)), digest(bytes), method)
      }
    }
  })

  await t.test("headers are forwarded with the client's address", async (t) => {
    const headers = {
      'x-own': 'one',
      cookie: 'a=b; c=d',
      accept: 'text/html',
      authorization: 'Custom x',
      host: 'code.example.org',
    }
    const { headers: reply } = await ask({ path: '/page', headers, localAddress: '127.0.0.2' })
    t.match(last()?.headers, { ...headers, 'x-forwarded-for': '127.0.0.2' })
    t.equal(last()?.headers['x-forwarded-proto'], 'http')
    t.equal(last()?.headers['x-forwarded-host'], 'code.example.org')
    t.equal(last()?.headers['x-request-id'], reply['x-request-id'])
  })

  await t.test('X-Forwarded headers of untrusted clients are replaced', async (t) => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }
    await ask({ path: '/page', headers, localAddress: '127.0.0.2' })
    t.equal(last()?.headers['x-forwarded-for'], '127.0.0.2')
    t.equal(last()?.headers['x-forwarded-proto'], 'http')
    await ask({ path: '/page', headers })
    t.equal(
      last()?.headers['x-forwarded-for'],
      '203.0.113.9',
      'those of a trusted proxy are forwarded',
    )
    t.equal(last()?.headers['x-forwarded-proto'], 'https')
  })

  await t.test('hop-by-hop headers are not forwarded', async (t) => {
    const headers = {
      connection: 'keep-alive, x-secret',
      'x-secret': 'hop',
      te: 'trailers',
      'proxy-authorization': 'Basic x',
      'keep-alive': 'timeout=5',
      'proxy-connection': 'keep-alive',
    }
    await ask({ path: '/page', headers })
    const kept = Object.keys(last()?.headers ?? {})
    for (const name of ['x-secret', 'te', 'proxy-authorization', 'proxy-connection']) {
      t.notOk(kept.includes(name), name)
    }
  })

  await t.test('unusual paths are forwarded or refused with 400', async (t) => {
    const odd = [
      '//[',
      '/%',
      '/%ff',
      '/\\',
      '/(',
      '/{',
      '/|',
      '/%00',
      '/%0d%0aX:1',
      '/a b'.replace(' ', '%20'),
      '//evil.example/',
      '/\\evil.example/',
      '/@evil.example/',
      '/:80/',
      '/?',
      '/#'.slice(0, 1),
      '/a//b///c',
      '/;a=b',
      '/*',
      '/~',
      "/'",
      '/"',
      '/<>',
      '/^`',
      '/é'.normalize('NFD'),
    ]
    for (const path of odd) {
      const { status } = await ask({ path: encodeURI(path).replaceAll('%25', '%') })
      t.ok([200, 400].includes(status), `${path}: ${status}`)
    }
    const rawPaths = ['//[', '/%', '/\\', '/(', '/|', '/"', '/<>', '/^`']
    for (const path of rawPaths) {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      const { statuses } = await converse(gatehouse.port, [request], { waitMs: 1_000 })
      t.ok([200, 400].includes(statuses[0] ?? 0), `${path}: ${statuses[0]}`)
    }
    t.equal((await ask({ path: '/still/there' })).status, 200)
    t.notMatch(gatehouse.log(), /a worker died/)
    t.notMatch(gatehouse.log(), /"level":"error"/)
  })

  await t.test('paths that Gatehouse serves are not forwarded', async (t) => {
    const before = upstream.seen.length
    t.equal((await ask({ path: '/api/v1/version' })).status, 200)
    t.equal((await ask({ path: '/a/b.git/info/refs?service=git-upload-pack' })).status, 401)
    t.equal((await ask({ path: '/livez' })).status, 200)
    t.equal((await ask({ method: 'POST', path: '/livez' })).status, 405)
    t.equal(upstream.seen.length, before)
  })
})

t.test('threat: a body without a length does not become a second request', async (t) => {
  const upstream = await startUpstream(t)
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'

  await t.test('a chunked body is forwarded as a body, with each method', async (t) => {
    for (const method of ['DELETE', 'GET', 'OPTIONS', 'POST', 'PROPFIND']) {
      const body = [Buffer.from(smuggled)]
      const answer = await askRaw(gatehouse.port, { method, path: '/chunks', body })
      t.equal(answer.status, 200, method)
      t.equal(upstream.seen.at(-1)?.body.toString(), smuggled, method)
    }
  })

  await t.test('a body with Content-Length is forwarded as a body, with each method', async (t) => {
    for (const method of ['DELETE', 'GET', 'OPTIONS', 'POST', 'PROPFIND']) {
      const answer = await askRaw(gatehouse.port, {
        method,
        path: '/length',
        body: smuggled,
        headers: { 'content-length': String(smuggled.length) },
      })
      t.equal(answer.status, 200, method)
      t.equal(upstream.seen.at(-1)?.body.toString(), smuggled, method)
    }
  })

  await t.test('no body was run as a request', async (t) => {
    await askRaw(gatehouse.port, { path: '/last' })
    t.notOk(upstream.seen.some(({ url }) => url === '/smuggled'))
    const expected = [...Array(5).fill('/chunks'), ...Array(5).fill('/length'), '/last']
    t.same(
      upstream.seen.map(({ url }) => url),
      expected,
    )
  })
})

t.test('replies of the upstream are streamed', async (t) => {
  const release: { go?: () => void } = {}
  const answer: Answer = (request, response) => {
    switch (request.url) {
      case '/slow':
        response.write('first')
        release.go = () => response.end('second')
        return
      case '/status':
        response.writeHead(418, 'Teapot', [
          'Set-Cookie',
          'a=1',
          'Set-Cookie',
          'b=2',
          'X-Own',
          'kept',
          'Keep-Alive',
          'timeout=9',
          'Content-Type',
          'text/plain',
          'Connection',
          'close',
        ])
        response.end('short and stout')
        return
      case '/redirect':
        response.writeHead(302, { location: 'http://elsewhere.example/' }).end()
        return
      case '/nothing':
        response.writeHead(204).end()
        return
      case '/unchanged':
        response.writeHead(304, { etag: '"x"' }).end()
        return
      case '/cut':
        response.writeHead(200, { 'content-length': '1000' })
        response.write('half')
        setTimeout(() => response.destroy(), 50)
        return
      default:
        endless(response)
    }
  }
  const upstream = await startUpstream(t, { answer })
  const ask = (path: string, method = 'GET') => askRaw(gatehouse.port, { path, method })

  await t.test('the start of a reply is forwarded before its end is written', async (t) => {
    const asked = request({ host: '127.0.0.1', port: gatehouse.port, path: '/slow' }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const [first] = (await once(response, 'data')) as [Buffer]
    t.equal(first.toString(), 'first', 'the upstream has not ended the reply')
    release.go?.()
    const [second] = (await once(response, 'data')) as [Buffer]
    t.equal(second.toString(), 'second')
  })

  await t.test('status and headers are forwarded, without hop-by-hop headers', async (t) => {
    const { status, headers, body } = await ask('/status')
    t.equal(status, 418)
    t.equal(body.toString(), 'short and stout')
    t.same(headers['set-cookie'], ['a=1', 'b=2'])
    t.equal(headers['x-own'], 'kept')
    t.equal(headers['keep-alive'], undefined)
  })

  await t.test('redirects and replies without a body are forwarded', async (t) => {
    t.equal((await ask('/redirect')).headers.location, 'http://elsewhere.example/')
    t.equal((await ask('/nothing')).status, 204)
    t.match(await ask('/unchanged'), { status: 304, headers: { etag: '"x"' } })
  })

  await t.test('a truncated reply is truncated for the client as well', async (t) => {
    await t.rejects(ask('/cut'))
    t.equal((await ask('/status')).status, 418)
  })

  await t.test('a slow client slows down the upstream', async (t) => {
    for (const pid of await workersOf(gatehouse.pid)) await forgetPeak(pid)
    const [before] = await workerPeaks(gatehouse)
    const asked = request({ host: '127.0.0.1', port: gatehouse.port, path: '/endless' }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.pause()
    await sleep(1_500)
    const sent = endlessBytes
    await sleep(500)
    t.equal(endlessBytes, sent, 'the upstream is paused')
    t.ok(sent < 40 * MEGABYTE, `${sent} bytes were read from the upstream`)
    const [after] = await workerPeaks(gatehouse)
    t.ok((after ?? 0) - (before ?? 0) < 60 * MEGABYTE, 'the worker buffers less than 60 MB')
    asked.destroy()
    const ended = await until(
      async () => upstream.seen.find(({ url }) => url === '/endless')?.isAborted,
      Boolean,
      5_000,
    )
    t.ok(ended, 'the request ends when the client disconnects')
  })
})

let endlessBytes = 0

function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536)
  const write = () => {
    while (!response.destroyed) {
      endlessBytes += chunk.length
      if (!response.write(chunk)) {
        response.once('drain', write)
        return
      }
    }
  }
  write()
}

async function workerPeaks({ pid }: Gatehouse): Promise<readonly number[]> {
  const memories = await Promise.all((await workersOf(pid)).map(memoryOf))
  return memories.map(({ peakBytes }) => peakBytes).sort((a, b) => b - a)
}

t.test('uploads are streamed at the speed of the upstream, and end with the client', async (t) => {
  const reading: { start?: () => void } = {}
  const answer: Answer = (request, response, entry) => {
    // The upstream reads nothing until a test calls this function.
    reading.start = () => void readWhole(request, entry).then(() => response.end('taken'))
  }
  const upstream = await startUpstream(t, { answer })

  await t.test('a slow upstream slows down the client', async (t) => {
    const upload = request({ host: '127.0.0.1', port: gatehouse.port, method: 'PUT', path: '/' })
    const chunk = randomBytes(50_000)
    let isFlowing = true
    for (let count = 0; count < 3_000 && isFlowing; count++) {
      isFlowing = upload.write(chunk) || (await becomesWritable(upload))
    }
    t.notOk(isFlowing, 'less than 150 MB are buffered')
    reading.start?.()
    upload.end()
    const [response] = (await once(upload, 'response')) as [IncomingMessage]
    const [answer] = (await once(response, 'data')) as [Buffer]
    t.equal(answer.toString(), 'taken')
    t.equal(upstream.seen.at(-1)?.isComplete, true)
  })

  await t.test('threat: a client that disconnects ends the forwarded request', async (t) => {
    for (const headers of [{}, { 'content-length': '100000' }]) {
      const count = upstream.seen.length
      const upload = request({
        host: '127.0.0.1',
        port: gatehouse.port,
        method: 'POST',
        path: '/left',
        headers,
      })
      upload.on('error', () => {})
      upload.write('a little')
      await until(
        async () => upstream.seen.length,
        (seen) => seen > count,
        5_000,
      )
      reading.start?.()
      upload.destroy()
      const left = upstream.seen[count]
      t.ok(
        await until(async () => left?.isAborted, Boolean, 5_000),
        'the forwarded request is ended',
      )
      t.equal(left?.isComplete, false, 'the upstream does not get a complete request')
    }
  })
})

async function becomesWritable(upload: ReturnType<typeof request>): Promise<boolean> {
  const drained = once(upload, 'drain').then(() => true)
  return Promise.race([drained, sleep(2_000, false)])
}

t.test('no path leaves the base path of the upstream', async (t) => {
  const upstream = await startUpstream(t, { port: await freePort() })
  const gatehouse = await startInFront(t, upstream.port, '/portal')
  t.equal(
    (await askRaw(gatehouse.port, { path: '/page?x' })).body.toString(),
    'answer of GET /portal/page?x',
  )
  for (const path of [
    '/../admin',
    '/%2e%2e/admin',
    '/a/../../admin',
    '/.%2E/admin',
    '/..\\admin',
  ]) {
    await askRaw(gatehouse.port, { path })
  }
  for (const { url } of upstream.seen) t.match(url, /^\/portal\//)
})

t.test('an unavailable upstream is answered with 502 until it is back', async (t) => {
  const down = await askRaw(gatehouse.port, { path: '/page' })
  t.equal(down.status, 502)
  t.match(down.headers['content-type'], /application\/json/)
  t.match(JSON.parse(down.body.toString()), { message: /upstream/ })
  t.equal((await askRaw(gatehouse.port, { path: '/api/v1/version' })).status, 200)
  const server = createServer((_, response) => response.end('back')).listen(
    upstreamPort,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  t.equal((await askRaw(gatehouse.port, { path: '/page' })).body.toString(), 'back')
})
