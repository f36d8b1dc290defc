/**
 * Calls of a source's API: endless, wrong, interrupted and redirected answers have bounded results.
 */

// The source is simulated, because no real server sends any of this.

import { once } from 'node:events'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { parseHostSet } from '../../../conf/host-set.js'
import { type GiteaSource, openGiteaApi } from '../../../gateway/imports/gitea-api.js'
import { startReceiver } from '../../helpers/receiver.js'
import { countConnections, serveWith } from '../../helpers/sources.js'

const ENTRY = Type.Object({ id: Type.Integer() })
type Answer = Parameters<typeof serveWith>[1]

async function anApi(t: Test, answer: Answer, changes: Partial<GiteaSource> = {}) {
  const server = await serveWith(t, answer)
  const api = openGiteaApi({
    url: new URL(`http://127.0.0.1:${server.port}/sub/eve/source.git`),
    authorization: 'Basic c2VjcmV0',
    signal: new AbortController().signal,
    allowPrivate: parseHostSet(['127.0.0.1']),
    idleMs: 5_000,
    timeoutMs: 5_000,
    itemsMax: 100,
    ...changes,
  })
  const list = async (path = '/labels') => {
    const ids: number[] = []
    for await (const page of api.pages(path, ENTRY)) ids.push(...page.map(({ id }) => id))
    return ids
  }
  const file = (address: string) =>
    api.download(address, async (body) => {
      let bytes = 0
      for await (const chunk of body) bytes += chunk.length
      return bytes
    })
  return { ...server, api, list, file }
}

const send =
  (text: string, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status).end(text)

const pageOf = (url = '') => Number(new URL(url, 'http://x').searchParams.get('page'))

t.test('pages are requested in order until one has nothing new', async (t) => {
  const pages = [[{ id: 1 }, { id: 2, more: null }], [{ id: 2 }, { id: 3 }], []]
  const { list, requests } = await anApi(t, (request, response) => {
    response.end(JSON.stringify(pages[pageOf(request.url) - 1]))
  })
  t.strictSame(await list('/issues?state=all'), [1, 2, 3])
  const path = '/sub/api/v1/repos/eve/source/issues?state=all'
  t.strictSame(
    requests,
    [1, 2, 3].map((page) => `${path}&page=${page}&limit=50`),
  )
  const same = await anApi(t, send('[{"id":1}]'))
  t.strictSame(
    await same.list(),
    [1],
    'a server that ignores the page number sends the same page each time',
  )
})

t.test('endless lists and bodies are refused', async (t) => {
  const endless = await anApi(t, (request, response) => {
    const first = pageOf(request.url) * 50
    response.end(JSON.stringify(Array.from({ length: 50 }, (_, at) => ({ id: first + at }))))
  })
  await t.rejects(endless.list(), { fault: 'failed', message: /more than 100 items/ })
  t.equal(endless.requests.length, 3)
  let sentBytes = 0
  const huge = await anApi(t, (_, response) => {
    const more = () => {
      sentBytes += 1_048_576
      if (response.write(Buffer.alloc(1_048_576, 32))) setImmediate(more)
    }
    response.on('drain', more)
    more()
  })
  await t.rejects(huge.list(), { fault: 'failed', message: /page of the source is too large/ })
  t.ok(sentBytes < 33_554_432, `${sentBytes} bytes were sent`)
  const silent = await anApi(t, () => {}, { idleMs: 200 })
  await t.rejects(silent.list(), { fault: 'failed', message: /no answer within 200 ms/ })
})

t.test('an answer that is not the expected JSON is refused with its path', async (t) => {
  for (const text of ['', '<html>', '[{"id":1}', `${'['.repeat(200_000)}`]) {
    const { list } = await anApi(t, send(text))
    await t.rejects(list(), { fault: 'failed', message: /not JSON/ })
  }
  for (const text of ['{}', 'null', '[null]', '[{"id":"1"}]', '[{"__proto__":{"id":1}}]']) {
    const { list } = await anApi(t, send(text))
    await t.rejects(list(), { fault: 'failed', message: /invalid answer: \/labels/ })
  }
  const cut = await anApi(t, (_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('[{"id":1}')
    setImmediate(() => response.destroy())
  })
  await t.rejects(cut.list(), { fault: 'failed', message: /could not be called/ })
})

t.test(
  'a short Retry-After is honoured a limited number of times, and a long one is an error',
  async (t) => {
    let asked = 0
    const busy = (header: Record<string, string>): Answer => {
      return (request, response) => {
        asked += 1
        if (asked % 3 !== 0) return void response.writeHead(429, header).end()
        response.end(pageOf(request.url) === 1 ? '[{"id":1}]' : '[]')
      }
    }
    t.strictSame(await (await anApi(t, busy({ 'retry-after': '0' }))).list(), [1])
    for (const header of [{ 'retry-after': '3600' }, { 'retry-after': '-1' }, {}]) {
      asked = 0
      const { list, requests } = await anApi(t, busy(header as Record<string, string>))
      await t.rejects(list(), { message: /answers (?:429|503)/ })
      t.equal(requests.length, 1)
    }
    const never = await anApi(t, (_, response) => {
      response.writeHead(503, { 'retry-after': '0' }).end()
    })
    await t.rejects(never.list(), { message: /answers (?:429|503)/ })
    t.equal(never.requests.length, 5)
    const aborting = new AbortController()
    const left = await anApi(t, busy({ 'retry-after': '60' }), { signal: aborting.signal })
    asked = 0
    const waiting = left.list()
    aborting.abort(new Error('gone'))
    await t.rejects(waiting, { message: 'gone' })
  },
)

t.test('a page is requested from its own address only, without redirects', async (t) => {
  const trap = await countConnections(t)
  const location = `http://127.0.0.1:${trap.port}/`
  const turning = await anApi(t, (_, response) => response.writeHead(302, { location }).end())
  await t.rejects(turning.list(), { fault: 'failed', message: /redirects/ })
  t.equal(trap.count(), 0)
  for (const status of [401, 403]) {
    const { list } = await anApi(t, send('', status))
    await t.rejects(list(), { message: /answers 40[13]/ })
  }
  await t.rejects((await anApi(t, send('', 404))).list(), { fault: 'failed', message: /404/ })
  const short = { url: new URL('http://127.0.0.1/source.git') }
  await t.rejects(anApi(t, send(''), short), { message: /names no owner/ })
})

t.test('a file may have another permitted host, which gets no credentials', async (t) => {
  const other = await startReceiver(t, { answer: (response) => response.end('bytes') })
  const seen: (string | undefined)[] = []
  const { api, file, port } = await anApi(t, (request, response) => {
    seen.push(request.headers.authorization)
    if (request.url === '/moved') response.writeHead(302, { location: `${other.url}/f` })
    if (request.url === '/inside') response.writeHead(302, { location: INSIDE })
    if (request.url === '/packed') response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end('own')
  })
  const at = (path: string) => `http://127.0.0.1:${port}${path}`
  t.equal(await file(at('/f')), 3)
  t.equal(await file(at('/moved')), 5)
  t.equal(await file(`${other.url}/f`), 5)
  t.strictSame(seen, ['Basic c2VjcmV0', 'Basic c2VjcmV0'])
  t.strictSame(
    other.received.map(({ headers }) => headers.authorization),
    [undefined, undefined],
  )

  // Another address of this machine that outbound.allow does not include.
  const inside = createServer((_, response) => response.end()).listen(0, '127.0.0.2')
  let connections = 0
  inside.on('connection', () => {
    connections += 1
  })
  t.teardown(() => inside.close())
  await once(inside, 'listening')
  const INSIDE = `http://127.0.0.2:${(inside.address() as { port: number }).port}/`
  for (const address of [INSIDE, at('/inside'), 'http://169.254.169.254/x', 'http://[::1]/']) {
    await t.rejects(file(address), {
      failure: 'invalid',
      message: /has an address that is not allowed/,
    })
  }
  t.equal(connections, 0)
  for (const address of ['file:///etc/passwd', 'ftp://127.0.0.1/', `http://eve:x@127.0.0.1/`]) {
    await t.rejects(file(address), { message: /The address|is not allowed/ }, address)
  }
  await t.rejects(file('/attachments/1'), { message: /invalid or unencrypted address/ })
  await t.rejects(file(at('/packed')), { message: /cannot be downloaded/ })
  await t.rejects(
    api.download(at('/f'), () => Promise.reject(new TypeError('ours'))),
    TypeError,
    'an error of this side is passed on unchanged',
  )
})
