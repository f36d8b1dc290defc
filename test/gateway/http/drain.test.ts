/** Shutdown of a listener in steps, with real connections. */

import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { deferred, get, startListener, type Wire } from '../../helpers/listening.js'

const LONG_MS = 30_000
const TIMES = { acceptMs: 0, lingerMs: 0, graceMs: 0, hasSuccessor: false }

const start = (t: Test) => startListener(t, async () => ({ status: 200, body: 'done' }))

async function ask(wire: Wire, count = 1): Promise<string> {
  wire.socket.write(get('/'))
  return (await wire.answers(count)).at(-1) ?? ''
}

async function isRefused(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

t.test('without a successor, connections are accepted for the accept time', async (t) => {
  const { connect, listener } = await start(t)
  const draining = listener.drain({ ...TIMES, acceptMs: 500 })
  await sleep(100)
  t.notMatch(await ask(await connect()), /^connection: close/im)
  await draining
  t.ok(await isRefused(listener.port))
})

t.test('a successor ends the accept time, and answers close their connections', async (t) => {
  const { connect, listener } = await start(t)
  const idle = await connect()
  const accepting = { ...TIMES, acceptMs: LONG_MS, lingerMs: LONG_MS }
  const draining = listener.drain(accepting)
  await sleep(100)
  t.notOk(await isRefused(listener.port))
  t.equal(
    listener.drain({ ...accepting, hasSuccessor: true }),
    draining,
    'one shutdown with new times',
  )
  await sleep(100)
  t.ok(await isRefused(listener.port))
  t.match(await ask(idle), /^connection: close\r$/im)
  await idle.ended()
  await draining
})

t.test('without a successor, open connections stay open for the linger time', async (t) => {
  const { connect, listener } = await start(t)
  const [busy, idle] = [await connect(), await connect()]
  const draining = listener.drain({ ...TIMES, lingerMs: 500 })
  await sleep(100)
  t.ok(await isRefused(listener.port))
  t.notMatch(await ask(busy), /^connection: close/im)
  t.notMatch(await ask(busy, 2), /^connection: close/im)
  await draining
  await Promise.all([busy.ended(), idle.ended()])
})

t.test('the linger time ends with the last connection', async (t) => {
  const { connect, listener } = await start(t)
  const wire = await connect()
  await ask(wire)
  const draining = listener.drain({ ...TIMES, lingerMs: LONG_MS })
  const startedAtMs = Date.now()
  wire.socket.destroy()
  await draining
  t.ok(Date.now() - startedAtMs < LONG_MS / 2)
})

t.test('a request whose client has left is waited for', async (t) => {
  const [begun, gate] = [deferred(), deferred()]
  const { connect, listener } = await startListener(t, async () => {
    begun.resolve()
    await gate.promise
    return { status: 200 }
  })
  const wire = await connect()
  wire.socket.write(get('/'))
  await begun.promise
  wire.socket.destroy()
  let isDrained = false
  const draining = listener.drain({ ...TIMES, graceMs: LONG_MS }).then(() => {
    isDrained = true
  })
  await sleep(200)
  t.notOk(isDrained)
  gate.resolve()
  await draining
})

/** Size of one write of a long body. */
const CHUNK_BYTES = 16_000
const LAST_CHUNK = /\r\n0\r\n\r\n$/

/** Counts the chunks of a long body that are requested before a client reads any. */
async function chunksUntilFull(t: Test): Promise<number> {
  let chunks = 0
  async function* endless() {
    for (;;) {
      chunks += 1
      yield Buffer.alloc(CHUNK_BYTES)
    }
  }
  const { connect } = await startListener(t, () => ({ status: 200, body: endless() }))
  await unreadReply(connect)
  return chunks
}

/** Requests a reply that is not read. */
async function unreadReply(connect: () => Promise<Wire>): Promise<Wire> {
  const wire = await connect()
  wire.socket.pause()
  wire.socket.write(get('/'))
  await sleep(100)
  return wire
}

t.test('a client that reads late gets the last bytes of a long body', async (t) => {
  const chunks = await chunksUntilFull(t)
  // The last chunk of some of these is left in the library when the handler has ended.
  for (const fewer of [0, 1, 2, 3]) {
    async function* body() {
      for (let count = fewer; count < chunks; count += 1) yield Buffer.alloc(CHUNK_BYTES)
    }
    const { connect, listener } = await startListener(t, () => ({ status: 200, body: body() }))
    const wire = await unreadReply(connect)
    const draining = listener.drain({ ...TIMES, graceMs: LONG_MS })
    await sleep(100)
    wire.socket.resume()
    await Promise.race([wire.until(LAST_CHUNK), wire.ended()])
    t.match(wire.text(), LAST_CHUNK, `${chunks - fewer} chunks`)
    wire.socket.destroy()
    await draining
  }
})
