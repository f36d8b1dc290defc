/** Connection of the SSH helper: messages in any chunks, timeouts, and its end. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Channel, openChannel } from '../../../gateway/ssh/channel.js'
import { formatMessage, messageHead } from '../../../gateway/ssh/message.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const LONG_MS = 60_000

/** Creates both ends of a connection, one of them as a channel. */
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

t.test('a message may arrive byte by byte', async (t) => {
  const { channel, peer } = await connected(t)
  for (const byte of formatMessage(['1', 'keys', 'x'])) {
    await new Promise((resolve) => peer.write(Buffer.from([byte]), resolve))
  }
  t.same(await channel.next(LONG_MS), ['1', 'keys', 'x'])
})

t.test('a message that arrives before it is read is kept', async (t) => {
  const { channel, peer } = await connected(t)
  peer.write(formatMessage(['early']))
  channel.send('go')
  await once(peer, 'readable')
  t.same(await channel.next(LONG_MS), ['early'])
})

t.test('a timeout gives no message, and the connection stays open', async (t) => {
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
  channel.send('not received')
})

t.test('the end of the helper aborts the signal for other waits', async (t) => {
  const { channel, peer } = await connected(t)
  const aborted = once(channel.signal, 'abort')
  peer.end()
  await aborted
  t.pass()
})

for (const [what, bytes] of [
  ['a message without an end', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  [
    'a message before the first one was answered',
    Buffer.concat([formatMessage(['a']), formatMessage(['b'])]),
  ],
] as const) {
  t.test(`${what} ends the connection`, async (t) => {
    const { channel, peer } = await connected(t)
    peer.write(bytes)
    await once(peer, 'close')
    await channel.next(LONG_MS)
    t.equal(channel.signal.aborted, true)
  })
}

t.test("data of a client is read in order and at the reader's pace", async (t) => {
  const { channel, peer } = await connected(t)
  channel.listen()
  const pieces = Array.from({ length: 100 }, (_, at) => Buffer.alloc(60_000, at))
  let isAllSent = false
  peer.write(Buffer.concat(pieces.flatMap((piece) => [messageHead(60_000), piece])), () => {
    isAllSent = true
  })
  await sleep(100)
  t.equal(isAllSent, false, 'the helper waits for the reader')
  for (const piece of pieces) t.ok((await channel.read())?.equals(piece))
  t.equal(isAllSent, true)
})

t.test("the end of the client's data and of the helper are read after all data", async (t) => {
  const { channel, peer } = await connected(t)
  channel.listen()
  peer.write(Buffer.concat([messageHead(2), Buffer.from('hi'), messageHead(0)]))
  t.equal((await channel.read())?.toString(), 'hi')
  t.equal(await channel.read(), undefined)
  t.equal(channel.signal.aborted, false)
  const next = channel.read()
  peer.destroy()
  t.equal(await next, undefined)
  t.equal(channel.signal.aborted, true)
})

t.test('data for the client has its length in front and an end marker', async (t) => {
  const { channel, peer } = await connected(t)
  channel.listen()
  await channel.write(Buffer.from('pack'))
  channel.finish()
  channel.send('end', '0', '')
  const expected = Buffer.concat([
    messageHead(4),
    Buffer.from('pack'),
    messageHead(0),
    formatMessage(['end', '0', '']),
  ])
  await once(peer, 'readable')
  t.same(peer.read(expected.length), expected)
})

t.test('writing to a helper that has disconnected is an error', async (t) => {
  const { channel, peer } = await connected(t)
  channel.listen()
  const writing = channel.write(Buffer.alloc(5_000_000))
  peer.destroy()
  await t.rejects(writing)
  await t.rejects(channel.write(Buffer.from('more')))
})
