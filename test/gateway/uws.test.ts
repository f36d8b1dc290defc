/** The listener on a real socket: what arrives, what leaves, and what happens when either stops. */

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parseAddressSet } from '../../conf/addresses.js'
import type { Reply, Request } from '../../conf/http.js'
import { readBody } from '../../gateway/incoming-body.js'
import { type Listener, listen } from '../../gateway/uws.js'

interface Listening {
  readonly listener: Listener
  readonly broken: unknown[]
  /** A connection that collects what it receives. */
  connect(): Promise<Wire>
}

interface Wire {
  readonly socket: Socket
  text(): string
  bytes(): number
  /** Resolves when so many answers came, the last of them whole to its head; at most 10 s. */
  answers(count: number): Promise<readonly string[]>
  /** Resolves when what came matches. */
  until(pattern: RegExp): Promise<string>
  ended(): Promise<string>
}

async function startListener(
  t: Test,
  handle: (request: Request) => Promise<Reply>,
): Promise<Listening> {
  const broken: unknown[] = []
  const listener = await listen({
    listen: { host: '127.0.0.1', port: 0 },
    trustedProxies: parseAddressSet([]),
    handle,
    onBroken: (_request, error) => broken.push(error),
  })
  t.teardown(() => listener.drain(0))
  return { listener, broken, connect: () => connect(t, listener.port) }
}

async function connect(t: Test, port: number): Promise<Wire> {
  const socket = createConnection(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  let received = ''
  let bytes = 0
  let isEnded = false
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    received += chunk.toString('latin1')
    // A long answer is counted; its text would be searched again with every chunk.
    if (received.length > 10_000) received = received.slice(0, 5_000) + received.slice(-100)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isEnded = true
  })
  const wait = async (isDone: () => boolean) => {
    const deadlineMs = Date.now() + 10_000
    while (!isDone()) {
      if (Date.now() > deadlineMs) throw new Error(`not seen in: ${received.slice(-500)}`)
      await sleep(5)
    }
    return received
  }
  return {
    socket,
    text: () => received,
    bytes: () => bytes,
    async answers(count) {
      const split = () => received.split(/(?=HTTP\/1\.1 )/)
      await wait(() => split().length === count && split().at(-1)?.includes('\r\n\r\n') === true)
      return split()
    },
    until: (pattern) => wait(() => pattern.test(received)),
    ended: () => wait(() => isEnded),
  }
}

const get = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

const deferred = () => {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

t.test('a request arrives as it was sent: raw path, query, joined headers, body', async (t) => {
  let seen: Request | undefined
  let body = ''
  const { connect } = await startListener(t, async (request) => {
    seen = request
    body = (await readBody(request.body, 100)).toString()
    return { status: 200 }
  })
  const wire = await connect()
  wire.socket.write(
    'POST //a/%2e%2E/%2F?x=1&y=%20 HTTP/1.1\r\nHost: x\r\nX-One: a\r\nx-one: b\r\n' +
      'X-Forwarded-For: 192.0.2.1\r\nContent-Length: 5\r\n\r\nhello',
  )
  await wire.until(/\r\n\r\n/)
  t.match(seen, { method: 'POST', path: '//a/%2e%2E/%2F', query: 'x=1&y=%20', scheme: 'http' })
  t.equal(seen?.headers.get('x-one'), 'a, b')
  t.equal(seen?.address, '127.0.0.1', 'a stranger is not believed')
  t.equal(body, 'hello')
  t.match(wire.text(), new RegExp(`X-Request-Id: ${seen?.id}\r\n`))
})

t.test('a connection serves one request after another, whatever their answers', async (t) => {
  const { connect } = await startListener(t, async ({ path }) => ({
    status: Number(path.slice(1, 4)),
    ...(path.endsWith('body') ? { body: 'text' } : {}),
  }))
  const wire = await connect()
  const requests = [
    ...[get('/204'), get('/204', 'DELETE'), get('/304'), get('/200', 'HEAD'), get('/307')],
    ...[get('/200body', 'HEAD'), get('/404body', 'HEAD'), get('/204', 'HEAD'), get('/200body')],
  ]
  for (const [index, request] of requests.entries()) {
    wire.socket.write(request)
    await wire.answers(index + 1)
  }
  wire.socket.write(get('/299'))
  const all = await wire.answers(requests.length + 1)
  const lengths = all.map((answer) => /Content-Length: (\d+)/i.exec(answer)?.[1])
  const none = undefined
  t.strictSame(lengths, [none, none, none, none, '0', '4', '4', none, '4', '0'])
  t.match(all[0], /^HTTP\/1\.1 204 No Content\r\n/)
  t.ok(all[5]?.endsWith('\r\n\r\n'), 'HEAD carries no body')
  t.ok(all[8]?.endsWith('\r\n\r\ntext'))
})

t.test('HEAD of a stream ends the stream unread', async (t) => {
  let isEnded = false
  const { connect } = await startListener(t, async () => ({
    status: 200,
    headers: [['Content-Length', '12']],
    body: {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          throw new Error('it was read')
        },
        return: async () => {
          isEnded = true
          return { done: true, value: undefined }
        },
      }),
    },
  }))
  const wire = await connect()
  wire.socket.write(get('/', 'HEAD'))
  t.match(await wire.until(/\r\n\r\n/), /Content-Length: 12\r\n/)
  t.equal(isEnded, true)
})

t.test('a header value cannot begin a header of its own', async (t) => {
  const { connect } = await startListener(t, async () => ({
    status: 200,
    headers: [
      ['X-Name', 'a\r\nSet-Cookie: b\u0000c'],
      ['Transfer-Encoding', 'gzip'],
      ['content-length', '99'],
      ['Connection', 'upgrade'],
    ],
    body: 'x',
  }))
  const wire = await connect()
  wire.socket.write(get('/'))
  const answer = await wire.until(/\r\n\r\nx/)
  t.match(answer, /X-Name: a {2}Set-Cookie: b c\r\n/)
  t.notMatch(answer, /^Set-Cookie|gzip|99|upgrade/m)
})

t.test('a slow reader slows the answer: memory stays flat', async (t) => {
  let produced = 0
  const chunk = new Uint8Array(65_536)
  const { connect } = await startListener(t, async () => ({
    status: 200,
    body: (async function* () {
      for (; produced < 2_000; produced += 1) yield chunk
    })(),
  }))
  const wire = await connect()
  wire.socket.pause()
  wire.socket.write(get('/'))
  await sleep(500)
  const early = produced
  t.ok(early < 400, `${early} chunks were made for a reader that reads nothing`)
  await sleep(200)
  t.ok(produced - early < 20, 'and then no more')
  wire.socket.resume()
  await wire.until(/\r\n0\r\n\r\n$/)
  t.equal(produced, 2_000)
  t.ok(wire.bytes() > 2_000 * 65_536)
})

t.test('a slow handler slows the sender, and gets every byte', async (t) => {
  const gate = deferred()
  let size = 0
  const { connect } = await startListener(t, async ({ body }) => {
    await gate.promise
    for await (const part of body) size += part.byteLength
    return { status: 200 }
  })
  const wire = await connect()
  const total = 32 << 20
  wire.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`)
  wire.socket.write(Buffer.alloc(total))
  await sleep(300)
  t.ok(wire.socket.writableLength > total / 2, 'most of it still waits at the sender')
  gate.resolve()
  await wire.until(/ 200 OK/)
  t.equal(size, total)
})

t.test('a client that leaves aborts its request, cuts its body and ends the stream', async (t) => {
  const left = deferred()
  const closed = deferred()
  let cut: unknown
  const { connect, broken } = await startListener(t, async (request) => {
    request.signal.addEventListener('abort', left.resolve)
    if (request.method === 'POST') {
      cut = await readBody(request.body, 100).catch((error: unknown) => error)
      return { status: 200 }
    }
    const body = (async function* () {
      try {
        for (;;) yield new Uint8Array(65_536)
      } finally {
        closed.resolve()
      }
    })()
    return { status: 200, body }
  })
  const uploader = await connect()
  uploader.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf')
  await sleep(50)
  uploader.socket.destroy()
  await left.promise
  await sleep(20)
  t.match(cut, { failure: 'bad_request' })
  const reader = await connect()
  reader.socket.write(get('/'))
  await reader.until(/\r\n\r\n/)
  reader.socket.destroy()
  await closed.promise
  t.strictSame(broken, [], 'which is no fault of ours')
})

/** Bytes that tell where they stand. */
function pattern(bytes: number): Buffer {
  const content = Buffer.alloc(bytes)
  for (let at = 0; at + 4 <= bytes; at += 4) content.writeUInt32LE(at, at)
  return content
}

async function* inChunks(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.byteLength; at += size) {
    if (at % 7 === 0) await sleep(1)
    yield content.subarray(at, at + size)
  }
}

/** The body of each answer of a known length on one connection; `pauseMs` makes a slow reader. */
async function bodiesOf(socket: Socket, count: number, pauseMs: number): Promise<Buffer[]> {
  const bodies: Buffer[] = []
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    if (pauseMs > 0) await sleep(pauseMs)
    if (!rest.includes('\r\n\r\n')) continue
    const head = rest.indexOf('\r\n\r\n') + 4
    const lengths = [...rest.toString('latin1', 0, head).matchAll(/content-length: (\d+)\r/gi)]
    if (lengths.length !== 1) throw new Error('not one length')
    const end = head + Number(lengths[0]?.[1])
    if (rest.length < end) continue
    bodies.push(rest.subarray(head, end))
    rest = rest.subarray(end)
    if (bodies.length === count) break
    socket.write(get('/next'))
  }
  return bodies
}

t.test('a body of a known length arrives whole, and the connection goes on', async (t) => {
  const content = pattern(5_000_000)
  for (const [name, bodyOf] of [
    ['in memory', () => ({ body: content })],
    ['a stream', () => ({ body: inChunks(content, 300_000), bodyBytes: content.length })],
    ['small pieces', () => ({ body: inChunks(content, 7_000), bodyBytes: content.length })],
  ] as const) {
    const { listener, broken } = await startListener(t, async () => ({ status: 200, ...bodyOf() }))
    for (const pauseMs of [0, 3]) {
      const socket = createConnection({ port: listener.port, host: '127.0.0.1' })
      socket.write(get('/'))
      const bodies = await bodiesOf(socket, 2, pauseMs)
      t.ok(
        bodies.length === 2 && bodies.every((body) => body.equals(content)),
        `${name} ${pauseMs}`,
      )
    }
    t.strictSame(broken, [])
  }
})

t.test('a reader that leaves such a body ends it', async (t) => {
  let isReturned = false
  const content = pattern(30_000_000)
  const { connect, broken } = await startListener(t, async () => ({
    status: 200,
    bodyBytes: content.length,
    body: (async function* () {
      try {
        yield* inChunks(content, 500_000)
      } finally {
        isReturned = true
      }
    })(),
  }))
  const wire = await connect()
  wire.socket.pause()
  wire.socket.write(get('/'))
  await sleep(200)
  t.notOk(isReturned, 'it waits for its reader')
  wire.socket.destroy()
  for (let waits = 0; waits < 500 && !isReturned; waits += 1) await sleep(10)
  t.ok(isReturned)
  t.strictSame(broken, [])
})

t.test('a body that ends short of its length breaks the connection', async (t) => {
  for (const bytes of [0, 100, 400_000]) {
    const { connect, broken } = await startListener(t, async () => ({
      status: 200,
      body: inChunks(pattern(bytes), 50_000),
      bodyBytes: 500_000,
    }))
    const wire = await connect()
    wire.socket.write(get('/'))
    await wire.ended()
    t.ok(wire.bytes() < 500_000)
    t.match(broken, [{ message: 'a body ended before its length' }])
  }
})

t.test('an answer that fails half way breaks the connection and is reported', async (t) => {
  const { connect, broken } = await startListener(t, async () => ({
    status: 200,
    body: (async function* () {
      yield Buffer.from('half')
      throw new Error('the disk is gone')
    })(),
  }))
  const wire = await connect()
  wire.socket.write(get('/'))
  t.notMatch(await wire.ended(), /0\r\n\r\n$/, 'it is not ended as if it were whole')
  t.match(broken, [{ message: 'the disk is gone' }])
})

t.test('a chunked request is the last of its connection', async (t) => {
  const bodies: string[] = []
  const { connect } = await startListener(t, async ({ body, path }) => {
    bodies.push(`${path} ${(await readBody(body, 1_000)).toString()}`)
    return { status: path === '/204' ? 204 : 200 }
  })
  for (const path of ['/200', '/204']) {
    const wire = await connect()
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
    wire.socket.write(`${head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n${get('/smuggled')}`)
    const answer = await wire.ended()
    t.equal(answer, '', 'a request in the same packet ends the connection')
    const alone = await connect()
    alone.socket.write(`${head}3\r\nabc\r\n0\r\n\r\n`)
    t.match(await alone.ended(), /^HTTP\/1\.1 20.*Connection: close\r\n/is)
  }
  t.strictSame(bodies, ['/200 abcde', '/200 abc', '/204 abcde', '/204 abc'], 'nothing else ran')
})

t.test('an unread body is read past when short and closes when long', async (t) => {
  const { connect } = await startListener(t, async () => ({ status: 413 }))
  const short = await connect()
  short.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n')
  await short.until(/ 413 /)
  short.socket.write('x'.repeat(1_000) + get('/'))
  await short.until(/ 413 .* 413 /s)
  const long = await connect()
  long.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nxx')
  t.match(await long.ended(), / 413 /)
})

t.test('malformed framing is answered 400, closed, and nothing behind it runs', async (t) => {
  const seen: string[] = []
  const { connect } = await startListener(t, async ({ path }) => {
    seen.push(path)
    return { status: 200 }
  })
  const wire = await connect()
  wire.socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx${get('/b')}`,
  )
  const answer = await wire.ended()
  t.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
  t.match(answer, /"message":"Content-Length is repeated\."/)
  t.strictSame(seen, [])
})

t.test('drain lets what runs end, closes its connections and takes no new ones', async (t) => {
  const gate = deferred()
  const { connect, listener } = await startListener(t, async ({ path }) => {
    if (path === '/slow') await gate.promise
    return { status: 200, body: 'done' }
  })
  const wire = await connect()
  wire.socket.write(get('/slow'))
  const idle = await connect()
  await sleep(50)
  const draining = listener.drain(5_000)
  await t.rejects(once(createConnection(listener.port, '127.0.0.1'), 'connect'), {
    code: 'ECONNREFUSED',
  })
  gate.resolve()
  t.match(await wire.ended(), /Connection: close.*done$/is)
  await draining
  await idle.ended()
})

t.test('drain waits no longer than its grace', async (t) => {
  const { connect, listener } = await startListener(t, () => new Promise(() => {}))
  const wire = await connect()
  wire.socket.write(get('/'))
  await sleep(50)
  const startedAt = Date.now()
  await listener.drain(100)
  t.ok(Date.now() - startedAt < 5_000)
  await wire.ended()
})

t.test('a port that is not to be had is said in a sentence', async (t) => {
  const options = {
    ...{ listen: { host: '203.0.113.1', port: 1 }, trustedProxies: parseAddressSet([]) },
    ...{ handle: async () => ({ status: 200 }), onBroken: () => {} },
  }
  await t.rejects(listen(options), { message: /cannot listen on 203\.0\.113\.1:1/ })
})
