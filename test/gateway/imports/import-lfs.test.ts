/** Imports of Git LFS objects from servers that fail or lie: complete or refused. */

// The LFS server is simulated, because no real one sends this; its Git is real.

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { listImports } from '../../../sql/repositories/repository-imports.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { type Received, startReceiver } from '../../helpers/receiver.js'
import { serveBare } from '../../helpers/sources.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const CONTENT = Buffer.from('content of an object')
const OTHER = Buffer.from('content of my object')
const oidOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const OID = oidOf(CONTENT)

function pointerTo(bytes: Uint8Array, size = bytes.length): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(bytes)}\nsize ${size}\n`
}

type Fields = Readonly<Record<string, unknown>>

interface LfsServer {
  /** Returns the answer of the batch API for an object. */
  readonly offer?: (oid: string, base: string) => Fields
  /** Answers a download; `count` is its number. */
  readonly send?: (response: ServerResponse, count: number) => void
}

const BY_OID = new Map([CONTENT, OTHER].map((bytes) => [oidOf(bytes), bytes]))

/** Serves a repository whose files point to two objects, and these objects. */
async function serveObjects(t: Test, { offer, send }: LfsServer = {}) {
  let downloads = 0
  const answer = (response: ServerResponse, { path, body, headers }: Received) => {
    const base = `http://${headers.host}`
    if (path === '/lfs/objects/batch') {
      const { objects } = JSON.parse(String(body)) as { objects: ReadonlyArray<{ oid: string }> }
      const offers = objects.map(({ oid }) => ({ oid, ...(offer ?? offerOf)(oid, base) }))
      response.end(JSON.stringify({ transfer: 'basic', objects: offers }))
      return
    }
    downloads += 1
    if (send === undefined) response.end(BY_OID.get(path.slice(1)))
    else send(response, downloads)
  }
  const lfs = await startReceiver(t, { answer })
  return { lfs, endpoint: `${lfs.url}/lfs` }
}

function offerOf(oid: string, base: string): Fields {
  return { actions: { download: { href: `${base}/${oid}` } } }
}

const gateway = await startGatewayWithUsers(t, {
  environment: {
    GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1',
    GATEHOUSE_LFS_SIZE_MAX: '1KiB',
    GATEHOUSE_LFS_OWNER_SIZE_MAX: '100',
    GATEHOUSE_MIGRATIONS_ITEMS_MAX: '2',
  },
})
const copy = await newWorkingCopy(t)
await copy.commit('old.bin', pointerTo(OTHER))
await copy.commit('old.bin', 'no pointer')
await copy.commit('a.bin', pointerTo(CONTENT))
await copy.commit('name with spaces.bin', pointerTo(CONTENT))
const source = await serveBare(t)
await copy.git('push', '--quiet', source.path, 'main')

async function migrate(fields: Fields, clone_addr = source.url) {
  const body = { clone_addr, repo_name: 'r', lfs: true, ...fields }
  return await gateway.as('ada', 'POST', '/repos/migrate', body)
}

/** Returns the number of objects of the imported repository, and deletes it. */
async function objectsOfImport(): Promise<number> {
  const { length } = await gateway.db('lfs_objects')
  t.equal((await gateway.as('ada', 'DELETE', '/repos/ada/r')).status, 204)
  return length
}

await t.test('the objects of all commits are fetched, each once', async (t) => {
  const { lfs, endpoint } = await serveObjects(t)
  const made = await migrate({ lfs_endpoint: `${endpoint}/` })
  t.equal(made.status, 201, made.text)
  t.strictSame(lfs.received.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    ...[OID, oidOf(OTHER)].map((oid) => `GET /${oid}`).toSorted(),
    'POST /lfs/objects/batch',
  ])
  const stored = await gateway.as('ada', 'GET', '/repos/ada/r/media/a.bin')
  t.equal(stored.text, String(CONTENT))
  t.equal(await objectsOfImport(), 2)
})

await t.test('credentials go to their origin, and not with a signed address', async (t) => {
  const header = { 'X-Signed': 'yes', Host: 'evil.example', Connection: 'upgrade' }
  const signed = (oid: string, base: string) => ({
    actions: { download: { href: `${base}/${oid}`, ...(oid === OID ? { header } : {}) } },
  })
  const { lfs, endpoint } = await serveObjects(t, { offer: signed })
  const authorization = `Basic ${Buffer.from('eve:S3cret').toString('base64')}`
  const own = endpoint.replace('://', '://eve:S3cret@')
  t.equal((await migrate({ lfs_endpoint: own })).status, 201)
  const sent = new Map(lfs.received.map(({ path, headers }) => [path, headers]))
  t.match(sent.get('/lfs/objects/batch'), { authorization })
  t.match(sent.get(`/${oidOf(OTHER)}`), { authorization })
  t.match(sent.get(`/${OID}`), { 'x-signed': 'yes', host: new URL(endpoint).host })
  t.notOk(sent.get(`/${OID}`)?.authorization)
  await objectsOfImport()
  const other = await serveObjects(t)
  t.equal((await migrate({ lfs_endpoint: other.endpoint, auth_token: 'S3cret' })).status, 201)
  t.notMatch(JSON.stringify(other.lfs.received), /authorization/)
  await objectsOfImport()
  t.notMatch(JSON.stringify(gateway.lines), /S3cret|ZXZlOlMzY3JldA/)
})

await t.test('a broken download is repeated, and a missing object is left out', async (t) => {
  const offer = (oid: string, base: string) =>
    oid === OID ? offerOf(oid, base) : { error: { code: 404, message: 'none' } }
  const send = (response: ServerResponse, count: number) => {
    response.writeHead(200, { 'content-length': CONTENT.length })
    if (count > 2) response.end(CONTENT)
    else response.write(CONTENT.subarray(0, 5), () => response.destroy())
  }
  const { endpoint } = await serveObjects(t, { offer, send })
  const made = await migrate({ lfs_endpoint: endpoint })
  t.equal(made.status, 201, made.text)
  t.ok(gateway.lines.some(({ missing }) => missing === 1))
  t.equal(await objectsOfImport(), 1)
})

await t.test('a source with invalid objects is refused and leaves nothing', async (t) => {
  const hidden = 'http://127.0.0.2/x'
  const sends = (answer: (response: ServerResponse) => void): LfsServer => ({ send: answer })
  const offers = (answer: Fields): LfsServer => ({ offer: () => answer })
  const refused: ReadonlyArray<readonly [LfsServer, RegExp]> = [
    [
      sends((response) => response.end('x'.repeat(20))),
      /invalid LFS object: The SHA-256 of the object is/,
    ],
    [sends((response) => response.end('short')), /has 5 bytes, not/],
    [sends((response) => response.end('x'.repeat(5_000))), /has more than 2\d bytes/],
    [
      sends((response) => response.writeHead(302, { location: hidden }).end()),
      /^The host '127\.0\.0\.2' has an address that is not/,
    ],
    [sends((response) => response.writeHead(404).end()), /status 404/],
    [sends((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end()), /gzip/],
    [
      offers({ actions: { download: { href: hidden } } }),
      /^The host '127\.0\.0\.2' has an address that is not/,
    ],
    [offers({ actions: { download: { href: 'file:///etc/passwd' } } }), /is not an HTTP URL/],
    [offers({ actions: { download: { href: 1 } } }), /invalid answer: \/objects\/batch/],
    [offers({ error: { code: 500 } }), /sends error 500/],
    [offers({ oid: 'f'.repeat(64) }), /does not answer for the LFS object/],
    [offers({}), /sends no address/],
  ]
  for (const [server, message] of refused) {
    const { endpoint } = await serveObjects(t, server)
    const answer = await migrate({ lfs_endpoint: endpoint })
    t.match(answer, { status: 422, json: { message } })
  }
  const hiddenEndpoint = await migrate({ lfs_endpoint: hidden })
  t.match(hiddenEndpoint, { status: 422, json: { message: /disallowed hosts/ } })
  const odd = await migrate({ lfs_endpoint: 'ssh://127.0.0.1/x' })
  t.match(odd, { status: 422, json: { message: /^The lfs_endpoint must be a URL/ } })
  await isClean(t)
})

await t.test('objects beyond a limit are refused before a download', async (t) => {
  const { lfs, endpoint } = await serveObjects(t)
  const [many, large, total] = await Promise.all([serveBare(t), serveBare(t), serveBare(t)])
  const push = async (to: { readonly path: string }, ...pointers: readonly string[]) => {
    const other = await newWorkingCopy(t)
    for (const [at, pointer] of pointers.entries()) await other.commit(`${at}`, pointer)
    await other.git('push', '--quiet', to.path, 'main')
  }
  await push(many, pointerTo(CONTENT), pointerTo(OTHER), pointerTo(Buffer.from('third')))
  await push(large, pointerTo(CONTENT, 1_025))
  await push(total, pointerTo(CONTENT, 60), pointerTo(OTHER, 60))
  const fields = { lfs_endpoint: endpoint }
  t.match(await migrate(fields, many.url), {
    status: 422,
    json: { message: 'Migration failed: the source has more than 2 LFS objects.' },
  })
  t.match(await migrate(fields, large.url), {
    status: 422,
    json: { message: /has 1025 bytes, and the limit lfs\.size_max is 1024/ },
  })
  t.match(await migrate(fields, total.url), {
    status: 507,
    json: { message: /These objects of 120 bytes would exceed the quota of / },
  })
  t.strictSame(lfs.received, [])
  await isClean(t)
})

async function isClean(t: Test): Promise<void> {
  const { db, settings } = gateway
  t.strictSame(await listImports(db), [])
  t.strictSame(await db('import_blobs'), [])
  t.strictSame(await db('lfs_objects'), [])
  t.strictSame(await readdir(`${settings.data.dir}/blobs/incoming`), [])
  t.equal((await gateway.as('ada', 'GET', '/repos/ada/r')).status, 404)
}
