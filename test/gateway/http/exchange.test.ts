/** Requests as they arrive, and clients that stop sending or disconnect. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Request } from '../../../conf/http.js'
import { IncomingBody, readBody } from '../../../gateway/http/incoming-body.js'
import { deferred, get, startListener } from '../../helpers/listening.js'

t.test('a request has its raw path, query, joined headers and body', async (t) => {
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
  t.equal(seen?.address, '127.0.0.1', 'an untrusted client cannot set the address')
  t.equal(body, 'hello')
  t.match(wire.text(), new RegExp(`X-Request-Id: ${seen?.id}\r\n`))
})

t.test('a slow handler slows the sender and gets every byte', async (t) => {
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
  t.ok(wire.socket.writableLength > total / 2, 'most of it is still at the sender')
  gate.resolve()
  await wire.until(/ 200 OK/)
  t.equal(size, total)
})

t.test(
  'a client that disconnects aborts its request, truncates its body and ends the stream',
  async (t) => {
    const left = deferred()
    const closed = deferred()
    let cut: unknown
    const { connect, broken } = await startListener(t, async (request) => {
      request.signal.addEventListener('abort', left.resolve)
      if (request.method === 'POST') {
        cut = await readBody(request.body, 100_000).catch((error: unknown) => error)
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
    uploader.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nhalf')
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
    t.strictSame(broken, [], 'no error is reported')
  },
)

t.test('a small body is buffered before the handler runs', async (t) => {
  const asked: string[] = []
  const { connect } = await startListener(t, ({ path, body }) => {
    asked.push(path)
    const whole = body instanceof IncomingBody ? body.whole(100) : undefined
    return { status: 200, body: whole instanceof Buffer ? `${path} ${whole}` : 'it is not there' }
  })
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n`
  const wire = await connect()
  wire.socket.write(`${post('/slow')}\r\nhalf `)
  await sleep(50)
  t.strictSame(asked, [], 'no handler runs')
  wire.socket.write(`whole${post('/next')}\r\n0123456789${get('/last')}`)
  await wire.until(/\/slow half whole.*\/next 0123456789.*it is not there/s)
  const departing = await connect()
  departing.socket.write(`${post('/left')}\r\nhalf`)
  await sleep(50)
  departing.socket.destroy()
  const careful = await connect()
  careful.socket.write(`${post('/careful')}Expect: 100-continue\r\n\r\n`)
  await careful.until(/it is not there/)
  t.strictSame(
    asked,
    ['/slow', '/next', '/last', '/careful'],
    'the handler did not run for the disconnected client',
  )
})

t.test('a chunked request is the last one of its connection', async (t) => {
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
  t.strictSame(bodies, ['/200 abcde', '/200 abc', '/204 abcde', '/204 abc'], 'no other request ran')
})

t.test('a streamed reply ends after the last chunk of its request', async (t) => {
  const { connect } = await startListener(t, async ({ path }) => ({
    status: 200,
    body: (async function* () {
      yield Buffer.from('ok')
    })(),
    ...(path === '/known' ? { bodyBytes: 2 } : {}),
  }))
  for (const [path, end] of [
    ['/known', /\r\n\r\nok$/],
    ['/unknown', /\r\nok\r\n0\r\n\r\n$/],
  ] as const) {
    const wire = await connect()
    wire.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
    wire.socket.write('3\r\nabc\r\n')
    await wire.until(/Connection: close\r\n/)
    await sleep(300)
    t.notMatch(wire.text(), end, `${path}, before the last chunk`)
    wire.socket.write('0\r\n\r\n')
    t.match(await wire.until(end), end, `${path}, after it`)
  }
})

t.test('the rest of a short unread body is dropped, and the connection is kept', async (t) => {
  const { connect } = await startListener(t, async () => ({ status: 413 }))
  const wire = await connect()
  wire.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
  t.notMatch(await wire.until(/ 413 .*\r\n\r\n/s), /connection: close/i)
  wire.socket.write('x'.repeat(100_000) + get('/'))
  await wire.until(/ 413 .* 413 /s)
})

t.test('a refusal reaches a client that sends a whole long body before it reads', async (t) => {
  const { connect } = await startListener(t, async () => ({ status: 409, body: 'exists' }))
  const { socket } = await connect()
  socket.pause()
  const isReset = once(socket, 'error').then(() => true)
  const lengthBytes = 32 << 20
  socket.write(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${lengthBytes}\r\n\r\n`)
  for (let sentBytes = 0; sentBytes < lengthBytes; sentBytes += 1 << 20) {
    if (!socket.write(Buffer.alloc(1 << 20))) await Promise.race([once(socket, 'drain'), isReset])
  }
  const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1\.1 409 .*Connection: close\r\n.*exists$/s)
  socket.end()
})

t.test(
  'a refusal reaches a client while it sends chunks, and no following request runs',
  async (t) => {
    const paths: string[] = []
    const { connect } = await startListener(t, async ({ path }) => {
      paths.push(path)
      return { status: 409, body: 'exists' }
    })
    const wire = await connect()
    wire.socket.write('PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `${(1 << 16).toString(16)}\r\n${'x'.repeat(1 << 16)}\r\n`
    for (let count = 0; count < 20; count += 1) wire.socket.write(chunk)
    t.match(await wire.until(/exists/), / 409 .*Connection: close\r\n/s)
    wire.socket.write(`0\r\n\r\n${get('/smuggled')}`)
    t.match(await wire.ended(), /exists$/)
    t.strictSame(paths, ['/'])
  },
)
