/** Headers and short bodies, as they are sent. */

import t from 'tap'
import { get, startListener } from '../../helpers/listening.js'

t.test('a connection serves several requests, whatever their responses', async (t) => {
  const { connect } = await startListener(t, async ({ path }) => ({
    status: Number(path.slice(1, 4)),
    ...(path.endsWith('body') ? { body: 'text' } : {}),
  }))
  const wire = await connect()
  const requests = [
    get('/204'),
    get('/204', 'DELETE'),
    get('/304'),
    get('/200', 'HEAD'),
    get('/307'),
    get('/200body', 'HEAD'),
    get('/404body', 'HEAD'),
    get('/204', 'HEAD'),
    get('/200body'),
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
  t.ok(all[5]?.endsWith('\r\n\r\n'), 'HEAD has no body')
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

t.test('a header value cannot start another header', async (t) => {
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
  t.notMatch(answer, /^(?:Set-Cookie|Transfer-Encoding|Connection):|^Content-Length: 99/im)
})
