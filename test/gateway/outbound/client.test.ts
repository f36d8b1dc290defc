/** The outbound client connects to permitted addresses only, whatever names and redirects say. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseHostSet } from '../../../conf/host-set.js'
import { callOutbound, type OutboundCall } from '../../../gateway/outbound/client.js'
import { startReceiver } from '../../helpers/receiver.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const NOBODY = parseHostSet([])
const LOOPBACK = parseHostSet(['127.0.0.0/8'])
const REFUSED = { message: /has an address that is not allowed/ }

function call(url: string, options: Partial<OutboundCall> = {}) {
  return callOutbound({
    url: new URL(url),
    allowPrivate: LOOPBACK,
    timeoutMs: 5_000,
    answerBytesMax: 1_000,
    ...options,
  })
}

t.test('a request is sent unchanged, and the whole answer is returned', async (t) => {
  const { url, received, port } = await startReceiver(t, {
    answer: (response) => response.writeHead(201, { 'X-Answer': 'yes' }).end('thank you'),
  })
  const answer = await call(`${url}/hook?a=b`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain', 'X-GitHub-Event': 'push', 'X-Empty': '' },
    body: Buffer.from('payload'),
  })
  t.match(answer, { status: 201, headers: { 'x-answer': 'yes' }, isWhole: true })
  t.equal(answer.body.toString(), 'thank you')
  const [one] = received
  t.match(one, { method: 'POST', path: '/hook?a=b', headers: { host: `127.0.0.1:${port}` } })
  t.equal(one?.body.toString(), 'payload')
  t.ok(one?.rawHeaders.includes('X-GitHub-Event'), 'with this capitalization')
  t.equal(one?.headers['x-empty'], '')
})

t.test('a private address is not connected to', async (t) => {
  const { port, connections } = await startReceiver(t)
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0',
  ]) {
    await t.rejects(call(`http://${host}:${port}/`, { allowPrivate: NOBODY }), REFUSED, host)
  }
  t.equal(connections(), 0)
})

t.test('a name is resolved once, and the connection goes to the checked address', async (t) => {
  const { port, received } = await startReceiver(t)
  let lookups = 0
  const rebinding = async () => {
    lookups += 1
    return lookups === 1 ? ['127.0.0.1'] : ['169.254.169.254']
  }
  const answer = await call(`http://hooks.example.org:${port}/`, { resolve: rebinding })
  t.equal(answer.status, 204)
  t.equal(lookups, 1)
  t.equal(received[0]?.headers.host, `hooks.example.org:${port}`)
  await t.rejects(call(`http://hooks.example.org:${port}/`, { resolve: rebinding }), REFUSED)
  const mixed = async () => ['127.0.0.1', '10.0.0.1']
  await t.rejects(call(`http://hooks.example.org:${port}/`, { resolve: mixed }), REFUSED)
  t.equal(received.length, 1)
})

t.test('of several addresses the first that accepts a connection is used', async (t) => {
  const { port, received } = await startReceiver(t)
  const resolve = async () => ['127.0.0.2', '127.0.0.1']
  t.equal((await call(`http://hooks.example.org:${port}/`, { resolve })).status, 204)
  t.equal(received.length, 1)
})

t.test('a redirect is returned, or followed after its target is checked', async (t) => {
  const inside = await startReceiver(t)
  const outside = await startReceiver(t, {
    answer: (response, { path }) =>
      response.writeHead(302, { Location: path === '/in' ? inside.url : '/in' }).end(),
  })
  const at = `http://hooks.example.org:${outside.port}/`
  const resolve = async () => ['127.0.0.1']
  const allowed = { resolve, allowPrivate: parseHostSet(['hooks.example.org']) }
  t.equal((await call(at, allowed)).status, 302)
  t.equal((await call(at, { ...allowed, method: 'POST', redirectsMax: 5 })).status, 302)
  t.equal(outside.received.length, 2)
  await t.rejects(call(at, { ...allowed, redirectsMax: 5 }), REFUSED)
  t.equal((await call(at, { ...allowed, redirectsMax: 1 })).status, 302, 'the second redirect')
  t.equal(inside.connections(), 0)
})

t.test('credentials are sent only to their own host', async (t) => {
  const other = await startReceiver(t)
  const first = await startReceiver(t, {
    answer: (response, { path }) =>
      response.writeHead(307, { Location: path === '/2' ? other.url : '/2' }).end(),
  })
  const headers = { Authorization: 'token secret', cookie: 'a=b', Accept: 'text/plain' }
  t.equal((await call(`${first.url}/1`, { headers, redirectsMax: 2 })).status, 204)
  t.equal(first.received[1]?.headers.authorization, 'token secret', 'its own host')
  t.match(other.received[0]?.headers, { accept: 'text/plain' })
  t.notOk(other.received[0]?.rawHeaders.some((text) => /secret|a=b/.test(text)))
})

t.test('addresses with other schemes or with credentials are refused', async (t) => {
  for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'http://ada:secret@127.0.0.1/']) {
    await t.rejects(call(url), { message: /^The address / }, url)
  }
  const { url } = await startReceiver(t, {
    answer: (response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
  })
  await t.rejects(call(url, { redirectsMax: 1 }), { message: 'The address is not an HTTP URL.' })
})

t.test(
  'a long answer is truncated, a slow one times out, and an error status is not a failure',
  async (t) => {
    const { url } = await startReceiver(t, {
      answer: (response, { path }) => {
        if (path === '/slow') response.writeHead(200).write('a')
        if (path === '/long') response.end('a'.repeat(100_000))
      },
    })
    const answer = await call(`${url}/long`)
    t.match(answer, { status: 200, isWhole: false })
    t.equal(answer.body.length, 1_000)
    for (const path of ['silent', 'slow']) {
      const started = call(`${url}/${path}`, { timeoutMs: 300 })
      await t.rejects(started, { message: /could not be called: no answer within 300 ms/ }, path)
    }
    const closed = await startReceiver(t, { answer: (response) => response.destroy() })
    await t.rejects(call(closed.url), { message: /could not be called: ECONNRESET/ })
    await t.rejects(call('http://127.0.0.1:1/'), { message: /could not be called: ECONNREFUSED/ })
    const never = { resolve: () => new Promise<never>(() => {}), timeoutMs: 100 }
    await t.rejects(call('http://hooks.example.org/', never), {
      message: /no answer within 100 ms/,
    })
  },
)

/** Creates a self-signed certificate for the name. */
async function certificateFor(t: Test, name: string) {
  const folder = await temporaryFolder(t)
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x`
  const args = [...words.split(' '), '-addext', `subjectAltName=${name}`]
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

t.test('over TLS the certificate must match the name, although an address is called', async (t) => {
  const tls = await certificateFor(t, 'DNS:hooks.example.org')
  const { port, received } = await startReceiver(t, { tls })
  const options = { resolve: async () => ['127.0.0.1'], authorities: [tls.cert] }
  t.equal((await call(`https://hooks.example.org:${port}/`, options)).status, 204)
  await t.rejects(call(`https://other.example.org:${port}/`, options), { message: /ALTNAME/ })
  await t.rejects(call(`https://127.0.0.1:${port}/`, options), { message: /ALTNAME/ })
  const strange = { resolve: options.resolve }
  await t.rejects(call(`https://hooks.example.org:${port}/`, strange), { message: /SELF_SIGNED/ })
  t.equal(received.length, 1)
  const byAddress = await certificateFor(t, 'IP:127.0.0.1')
  const second = await startReceiver(t, { tls: byAddress })
  t.equal((await call(second.url, { authorities: [byAddress.cert] })).status, 204)
})

t.test('proxies in the environment are not used', async (t) => {
  const proxy = await startReceiver(t)
  process.env['http_proxy'] = proxy.url
  process.env['HTTP_PROXY'] = proxy.url
  t.teardown(() => {
    delete process.env['http_proxy']
    delete process.env['HTTP_PROXY']
  })
  const { url, received } = await startReceiver(t)
  t.equal((await call(url)).status, 204)
  t.equal(received.length, 1)
  t.equal(proxy.connections(), 0)
})
