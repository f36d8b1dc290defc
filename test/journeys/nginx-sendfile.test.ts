/** nginx sends large files itself: the same replies, to the clients who may have them. */

import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freePort } from '../helpers/free-port.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { fetchBody } from '../helpers/git-requests.js'
import { untilAllCached } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import { startReverseProxy } from '../helpers/reverse-proxy.js'
import { cloneInto, incompressible, newWorkingCopy } from '../helpers/working-copy.js'

const PREFIX = '/-/internal/'
/** Header that the test adds in the internal location of the example. */
const SENDER = 'x-sent-by'

const port = await freePort()
/** Address of nginx, without TLS. */
const address = `http://127.0.0.1:${port}`
const gatehouse = await startGatehouse(t, {
  workers: 1,
  environment: {
    GATEHOUSE_HTTP_BASE_URL: address,
    GATEHOUSE_HTTP_SENDFILE: `nginx:${PREFIX}`,
    // Larger answers are not held in memory.
    GATEHOUSE_CACHE_MEMORY_MAX: '4MiB',
  },
})
const ada = await gatehouse.addUser('ada')

/** Starts nginx for the test; its internal location is a folder. */
async function startNginxWith(t: Test, folder: string): Promise<void> {
  await startReverseProxy(t, 'nginx', {
    port,
    plainPort: await freePort(),
    gatewayPort: gatehouse.port,
    edit: (example) =>
      example
        .replace(`listen 127.0.0.1:${port} ssl;`, `listen 127.0.0.1:${port};`)
        .replace(/ssl_certificate.*;/g, '')
        .replace('alias /var/lib/gatehouse/;', `alias ${folder}/;`)
        .replace('sendfile on;', 'sendfile on; add_header X-Sent-By nginx;'),
  })
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init)
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), body }
}

/** Headers of a hop, of one request, and of the test. */
const OWN_HEADERS = new Set(['connection', 'date', 'server', 'x-request-id', 'keep-alive', SENDER])

function comparable({ status, headers, body }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))
  // The server library announces its version with every reply.
  const shown = kept.filter(([name]) => name !== 'uwebsockets')
  return { status, headers: Object.fromEntries(shown), body: body.toString('base64') }
}

t.test('nginx sends stored answers and packages, to the byte', async (t) => {
  await startNginxWith(t, gatehouse.dataDir)
  const authorization = `token ${ada.token}`
  const direct = `http://127.0.0.1:${gatehouse.port}`

  await t.test('doctor says that nginx sends files', async (t) => {
    t.match((await gatehouse.run('doctor')).output, /^ok {6}sendfile: nginx sends files of /m)
  })

  await t.test('a large and a small stored answer', async (t) => {
    for (const [name, bytes] of Object.entries({ large: 3_000_000, small: 1_200_000 })) {
      await makeRepository(ada, name)
      const source = await newWorkingCopy(t)
      const commit = await source.commit('file', incompressible(bytes))
      await source.git('push', '--quiet', ada.remote(`ada/${name}.git`), 'HEAD:refs/heads/main')
      const fetchFrom = (base: string) =>
        ask(`${base}/ada/${name}.git/git-upload-pack`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/x-git-upload-pack-request',
            'Git-Protocol': 'version=2',
          },
          body: fetchBody(commit),
        })
      const first = await fetchFrom(address)
      await untilAllCached(gatehouse.dataDir)
      const second = await fetchFrom(address)
      t.equal(first.headers[SENDER], undefined, 'the first answer is streamed')
      t.equal(second.headers[SENDER], 'nginx')
      t.ok(second.body.equals(first.body))
      t.equal(second.headers['content-type'], 'application/x-git-upload-pack-result')
      t.equal(second.headers['cache-control'], first.headers['cache-control'])
      t.match(second.headers['x-request-id'], /./)
      t.equal(second.headers['last-modified'], undefined)
      const unproxied = await fetchFrom(direct)
      t.equal(unproxied.headers['x-accel-redirect'], undefined, 'a client without a proxy')
      t.ok(unproxied.body.equals(first.body))
      const copy = await cloneInto(t, `${address}/ada/${name}.git`)
      t.equal(await copy.git('rev-parse', 'HEAD'), commit)
      // The server may store an answer in advance meanwhile.
      const retries = { maxRetries: 10, retryDelay: 20 }
      await rm(join(gatehouse.dataDir, 'cache/packs'), { recursive: true, ...retries })
      const third = await fetchFrom(address)
      t.equal(third.headers[SENDER], undefined, 'the file is gone')
      t.equal(third.status, 200)
      await untilAllCached(gatehouse.dataDir)
    }
  })

  await t.test('an object of Git LFS', async (t) => {
    await makeRepository(ada, 'models')
    const content = Buffer.from(incompressible(1_200_000))
    const oid = createHash('sha256').update(content).digest('hex')
    const path = `/ada/models.git/info/lfs/objects/${oid}`
    const headers = { authorization }
    const put = await ask(`${direct}${path}/1200000`, { method: 'PUT', headers, body: content })
    t.equal(put.status, 200)
    const sent = await ask(address + path)
    t.equal(sent.headers[SENDER], 'nginx')
    t.ok(sent.body.equals(content))
    t.strictSame(comparable(sent), comparable(await ask(direct + path)))
  })

  await t.test('the file of a package, with the headers of the gateway', async (t) => {
    const path = '/api/packages/ada/generic/tool/1.0/tool.bin'
    const content = Buffer.from(incompressible(1_200_000))
    const headers = { authorization }
    const put = await ask(direct + path, { method: 'PUT', headers, body: content })
    t.equal(put.status, 201)
    const both = async (more: Readonly<Record<string, string>> = {}, method = 'GET') => {
      const init = { method, headers: { ...headers, ...more } }
      return [await ask(address + path, init), await ask(direct + path, init)] as const
    }
    const [sent, own] = await both()
    t.equal(sent.headers[SENDER], 'nginx')
    t.ok(sent.body.equals(content))
    t.strictSame(comparable(sent), comparable(own))
    const requests: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'the same version': { 'If-None-Match': own.headers['etag'] ?? '' },
      'another version': { 'If-None-Match': '"other"' },
      'not modified since': { 'If-Modified-Since': own.headers['last-modified'] ?? '' },
      'a part': { Range: 'bytes=5-9' },
      'two parts': { Range: 'bytes=0-1,5-9' },
      'a part beyond the end': { Range: 'bytes=9000000-' },
      'a part of another version': { Range: 'bytes=5-9', 'If-Range': '"other"' },
    }
    for (const [name, more] of Object.entries(requests)) {
      const [proxied, gateways] = await both(more)
      t.strictSame(comparable(proxied), comparable(gateways), name)
    }
    const [head, ownHead] = await both({}, 'HEAD')
    t.strictSame(comparable(head), comparable(ownHead))
  })

  await t.test('a stored archive of a commit, with the headers of the gateway', async (t) => {
    for (const path of ['/ada/large/archive/main.zip', '/ada/large/archive/main.tar.gz']) {
      const first = await ask(address + path)
      t.equal(first.headers[SENDER], undefined, 'the first archive is streamed')
      await ask(address + path)
      await untilAllCached(gatehouse.dataDir)
      const [sent, own] = [await ask(address + path), await ask(direct + path)]
      t.equal(sent.headers[SENDER], 'nginx')
      t.ok(sent.body.equals(first.body))
      t.match(sent.headers['link'], /rel="immutable"$/)
      t.strictSame(comparable(sent), comparable(own))
    }
  })

  await t.test('a file of a release, with the headers of the gateway', async (t) => {
    const release = await ada.api('POST', '/repos/ada/large/releases', { tag_name: 'v1' })
    const { id } = release.body as { readonly id: number }
    const body = Buffer.from(incompressible(1_200_000))
    const assets = `/api/v1/repos/ada/large/releases/${id}/assets?name=tool.bin`
    const headers = { authorization, 'Content-Type': 'application/octet-stream' }
    const made = await ask(direct + assets, { method: 'POST', headers, body })
    t.equal(made.status, 201)
    const path = '/ada/large/releases/download/v1/tool.bin'
    const [sent, own] = [await ask(address + path), await ask(direct + path)]
    t.equal(sent.headers[SENDER], 'nginx')
    t.ok(sent.body.equals(body))
    t.strictSame(comparable(sent), comparable(own))
  })

  await t.test('a private package is refused without a token', async (t) => {
    const path = '/api/packages/club/generic/tool/1.0/tool.bin'
    await ada.api('POST', '/orgs', { username: 'club', visibility: 'private' })
    const body = Buffer.from(incompressible(1_100_000))
    const headers = { authorization }
    t.equal((await ask(direct + path, { method: 'PUT', headers, body })).status, 201)
    t.equal((await ask(address + path, { headers })).headers[SENDER], 'nginx')
    const refused = await ask(address + path)
    t.match(refused, { status: 401 })
    t.equal(refused.headers[SENDER], undefined)
  })

  await t.test('clients cannot request the location', async (t) => {
    for (const path of ['secret.key', 'gatehouse.db', '']) {
      t.equal((await ask(`${address}${PREFIX}${path}`)).status, 404)
    }
    t.ok((await readFile(join(gatehouse.dataDir, 'secret.key'))).length > 0)
  })
})

t.test('doctor names the fault of a location that has another folder', async (t) => {
  await startNginxWith(t, join(gatehouse.dataDir, 'cache'))
  const { output, exitCode } = await gatehouse.run('doctor')
  t.match(output, /^FAULT {3}sendfile: .*answered 404.*alias/m)
  t.equal(exitCode, 1)
  t.equal((await ask(`${address}/livez`)).status, 200)
})
