/** A helper's connection: messages in any pieces, deadlines, and an end that is seen at once. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Channel, openChannel } from '../../../gateway/ssh/channel.js'
import { formatMessage } from '../../../gateway/ssh/message.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const LONG_MS = 60_000

/** The two ends of a connection, of which one is a channel. */
async function connected(t: Test): Promise<{ channel: Channel; peer: Socket }> {
  const path = join(await temporaryFolder(t), 'socket')
  const server = createServer().listen(path)
  await once(server, 'listening')
  const peer = connect(path)
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.teardown(async () => {
    peer.destroy()
    socket.destroy()
    server.close()
  })
  return { channel: openChannel(socket), peer }
}

t.test('a message may come byte by byte', async (t) => {
  const { channel, peer } = await connected(t)
  for (const byte of formatMessage(['1', 'keys', 'x'])) {
    await new Promise((resolve) => peer.write(Buffer.from([byte]), resolve))
  }
  t.same(await channel.next(LONG_MS), ['1', 'keys', 'x'])
})

t.test('a message that came before anybody asked is kept', async (t) => {
  const { channel, peer } = await connected(t)
  peer.write(formatMessage(['early']))
  channel.send('go')
  await once(peer, 'readable')
  t.same(await channel.next(LONG_MS), ['early'])
})

t.test('nothing in time is no message, and the helper is still there', async (t) => {
  const { channel } = await connected(t)
  t.equal(await channel.next(20), undefined)
  t.equal(channel.signal.aborted, false)
})

t.test('the end of the helper ends the wait', async (t) => {
  const { channel, peer } = await connected(t)
  const next = channel.next(LONG_MS)
  peer.destroy()
  t.equal(await next, undefined)
  t.equal(channel.signal.aborted, true)
  t.equal(await channel.next(LONG_MS), undefined)
  channel.send('to nobody')
})

t.test('it is seen by whoever waits for something else', async (t) => {
  const { channel, peer } = await connected(t)
  const aborted = once(channel.signal, 'abort')
  peer.end()
  await aborted
  t.pass()
})

for (const [what, bytes] of [
  ['a message without an end', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['two messages at once', Buffer.concat([formatMessage(['a']), formatMessage(['b'])])],
] as const) {
  t.test(`${what} ends the connection`, async (t) => {
    const { channel, peer } = await connected(t)
    peer.write(bytes)
    await once(peer, 'close')
    await channel.next(LONG_MS)
    t.equal(channel.signal.aborted, true)
  })
}
