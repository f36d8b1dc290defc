/** Sockets that listen on a port, as the kernel counts them. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { countListeners, untilOthersListen } from '../../../gateway/http/port-listeners.js'
import { freePort } from '../../helpers/free-port.js'

t.test(
  'listening sockets of both address families are counted, and connections are not',
  async (t) => {
    const port = await freePort()
    t.equal(await countListeners(port), 0)
    const server = createServer().listen(port, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    t.equal(await countListeners(port), 1)
    const other = createServer().listen(port, '::1')
    t.teardown(() => other.close())
    await once(other, 'listening')
    t.equal(await countListeners(port), 2)
  },
)

t.test('the wait ends when others listen or after its timeout', async (t) => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  t.equal(await untilOthersListen(port, { ownCount: 1, withinMs: 0 }), false)
  const waiting = untilOthersListen(port, { ownCount: 1, withinMs: 20_000 })
  const other = createServer().listen(port, '::1')
  t.teardown(() => other.close())
  t.equal(await waiting, true)
})
