/** Streamed responses: at the reader's pace, and complete or visibly broken. */

import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { get, startListener } from '../../helpers/listening.js'

t.test('a slow reader slows the response, and memory does not grow', async (t) => {
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
  t.ok(early < 400, `${early} chunks were produced for a reader that reads nothing`)
  await sleep(200)
  t.ok(produced - early < 20, 'and then no more')
  wire.socket.resume()
  await wire.until(/\r\n0\r\n\r\n$/)
  t.equal(produced, 2_000)
  t.ok(wire.bytes() > 2_000 * 65_536)
})

t.test('a body of known length arrives completely, and the connection is kept', async (t) => {
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

t.test('a client that disconnects ends such a body', async (t) => {
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

t.test('a body shorter than its length breaks the connection', async (t) => {
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
    t.match(broken, [{ message: 'a body is shorter than its announced length' }])
  }
})

t.test('a response that fails halfway breaks the connection and is reported', async (t) => {
  const { connect, broken } = await startListener(t, async () => ({
    status: 200,
    body: (async function* () {
      yield Buffer.from('half')
      throw new Error('the disk failed')
    })(),
  }))
  const wire = await connect()
  wire.socket.write(get('/'))
  t.notMatch(await wire.ended(), /0\r\n\r\n$/, 'it has no regular end')
  t.match(broken, [{ message: 'the disk failed' }])
})

/** Returns bytes that depend on their position. */
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

/** Returns the body of each response on one connection; `pauseMs` makes a slow reader. */
async function bodiesOf(socket: Socket, count: number, pauseMs: number): Promise<Buffer[]> {
  const bodies: Buffer[] = []
  let chunks: Buffer[] = []
  let receivedBytes = 0
  let expectedBytes: number | undefined
  for await (const chunk of socket) {
    chunks.push(chunk)
    receivedBytes += chunk.length
    if (pauseMs > 0) await sleep(pauseMs)
    expectedBytes ??= responseBytes(Buffer.concat(chunks))
    if (expectedBytes === undefined || receivedBytes < expectedBytes) continue
    const response = Buffer.concat(chunks)
    bodies.push(response.subarray(response.indexOf(HEAD_END) + HEAD_END.length, expectedBytes))
    if (bodies.length === count) break
    chunks = []
    receivedBytes = 0
    expectedBytes = undefined
    socket.write(get('/next'))
  }
  return bodies
}

const HEAD_END = '\r\n\r\n'

/** Returns the size of a response with its head, or nothing before the head is complete. */
function responseBytes(start: Buffer): number | undefined {
  const end = start.indexOf(HEAD_END)
  if (end < 0) return undefined
  const head = start.toString('latin1', 0, end + HEAD_END.length)
  const lengths = [...head.matchAll(/content-length: (\d+)\r/gi)]
  if (lengths.length !== 1) throw new Error('not one length')
  return head.length + Number(lengths[0]?.[1])
}
