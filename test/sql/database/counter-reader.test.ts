/** Reads of the counter of changes, with a server that closes connections or does not answer. */

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type Connection, createConnection } from 'mysql2'
import t, { type Test } from 'tap'
import { COUNT_CHANGE } from '../../../sql/database/change-counter.js'
import { CounterReader } from '../../../sql/database/counter-reader.js'
import { freshLocation, openForTest } from '../../helpers/databases.js'

const TIMEOUT_MS = 15_000

async function aReader(t: Test) {
  const location = await freshLocation(t, 'mysql')
  if (location.kind !== 'mysql') throw new Error('the location is not one of MySQL')
  const db = await openForTest(t, location)
  const connections: Connection[] = []
  const connect = () => {
    const connection = createConnection(location.url.href)
    connections.push(connection)
    return connection
  }
  const reader = new CounterReader(connect, TIMEOUT_MS)
  t.teardown(() => reader.close())
  return { db, reader, connections }
}

t.test('the text is different after each change, and equal without one', async (t) => {
  const { db, reader, connections } = await aReader(t)
  const texts: unknown[] = []
  for (let change = 0; change < 3; change += 1) {
    await db.raw(COUNT_CHANGE)
    texts.push(await reader.read())
    t.equal(await reader.read(), texts.at(-1))
  }
  t.equal(new Set(texts).size, 3)
  t.equal(connections.length, 1, 'all reads use one connection')
  await db.raw('drop table change_counter')
  t.equal(await reader.read(), undefined, 'there is no counter')
  t.equal(connections.length, 1)
})

t.test('a read after the server has closed the connection opens another one', async (t) => {
  const { db, reader, connections } = await aReader(t)
  await db.raw(COUNT_CHANGE)
  const text = await reader.read()
  const ended = once(connections[0] as Connection, 'error')
  await db.raw(`kill ${connections[0]?.threadId}`)
  await ended
  const next = await reader.read()
  t.match(next, text?.split(' ')[0], 'the same epoch')
  t.equal(connections.length, 2)
})

t.test('a closed reader and a server that does not answer are unavailable', async (t) => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as { port: number }
  const connect = () => createConnection({ host: '127.0.0.1', port, user: 'x' })
  const reader = new CounterReader(connect, 200)
  const beganAtMs = performance.now()
  for (const _try of [1, 2])
    await t.rejects(reader.read(), { failure: 'unavailable', message: /does not answer/ })
  t.ok(performance.now() - beganAtMs < 5_000, 'before the time limit of the driver')
  t.equal(sockets.length, 2, 'each read tries again')
  reader.close()
  await t.rejects(reader.read(), { failure: 'unavailable', message: /does not answer/ })
  t.equal(sockets.length, 2, 'a closed reader does not connect')
})
