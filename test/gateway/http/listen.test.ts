/** The listener: refused requests, and shutdown. */

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { parseAddressSet } from '../../../conf/addresses.js'
import { listen } from '../../../gateway/http/listen.js'
import { deferred, get, startListener, WITHOUT_DELAY } from '../../helpers/listening.js'

/** Address on which no other test listens, so that its ports are free. */
const LONELY = '127.77.0.1'

t.test(
  'malformed framing is answered with 400 and closed, and no following request runs',
  async (t) => {
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
    t.match(answer, /"message":"Content-Length is not one number\."/)
    t.strictSame(seen, [])
  },
)

t.test(
  'drain waits for running requests, closes their connections and accepts no new ones',
  async (t) => {
    const gate = deferred()
    const { connect, listener } = await startListener(t, async ({ path }) => {
      if (path === '/slow') await gate.promise
      return { status: 200, body: 'done' }
    })
    const wire = await connect()
    wire.socket.write(get('/slow'))
    const idle = await connect()
    await sleep(50)
    const draining = listener.drain({ ...WITHOUT_DELAY, graceMs: 5_000 })
    await sleep(50)
    await t.rejects(once(createConnection(listener.port, '127.0.0.1'), 'connect'), {
      code: 'ECONNREFUSED',
    })
    gate.resolve()
    t.match(await wire.ended(), /Connection: close.*done$/is)
    await draining
    await idle.ended()
  },
)

t.test('drain waits at most for its grace time', async (t) => {
  const { connect, listener } = await startListener(t, () => new Promise(() => {}))
  const wire = await connect()
  wire.socket.write(get('/'))
  await sleep(50)
  const startedAt = Date.now()
  await listener.drain({ ...WITHOUT_DELAY, graceMs: 100 })
  t.ok(Date.now() - startedAt < 5_000)
  await wire.ended()
})

t.test('a port that cannot be bound is an error with a message', async (t) => {
  const options = {
    listen: [{ host: '203.0.113.1', port: 1 }],
    trustedProxies: parseAddressSet([]),
    handle: async () => ({ status: 200 }),
    onBroken: () => {},
  }
  const message = /^cannot listen on 203\.0\.113\.1:1: no network interface .* has the address$/
  await t.rejects(listen(options), { message })
  const taken = createServer().listen(0, '::1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const both = {
    ...options,
    listen: [
      { host: LONELY, port },
      { host: '::1', port },
    ],
  }
  await t.rejects(listen(both), { message: `cannot listen on [::1]:${port}: another program` })
  const free = createServer().listen(port, LONELY)
  t.teardown(() => free.close())
  await once(free, 'listening')
})
