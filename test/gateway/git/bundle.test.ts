/** Bundle URIs: advertised as by git, equal to a clone, and invalid after any change. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BUNDLE_REPOSITORY_KIB_MIN } from '../../../gateway/git/bundle.js'
import { findRepository, updateRepository } from '../../../sql/repositories/repositories.js'
import { askOffer, bundleRequest, offeredBundle, untilCached } from '../../helpers/bundle-offers.js'
import { objectsOf, postFetch, readFetchAnswer } from '../../helpers/fetch-answers.js'
import type { GatewayOptions } from '../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git } from '../../helpers/git-client.js'
import { packetLine } from '../../helpers/git-requests.js'
import { findNewerGit, pathOf } from '../../helpers/newer-git.js'
import { countPackCache, untilAllCached } from '../../helpers/pack-cache-counts.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible, newWorkingCopy } from '../../helpers/working-copy.js'

const newer = await findNewerGit()

interface SceneOptions extends GatewayOptions {
  readonly objectFormat?: 'sha1' | 'sha256'
  readonly sizeKib?: number
}

/** Creates a repository with two branches and two tags, with the given size in the database. */
async function setScene(t: Test, options: SceneOptions = {}) {
  const { objectFormat = 'sha1', sizeKib = BUNDLE_REPOSITORY_KIB_MIN } = options
  const gateway = await startGatewayWithUsers(t, { git: newer, ...options })
  const { port } = gateway
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r', object_format_name: objectFormat })
  const path = await gateway.pathOf('ada', 'r')
  const repository = await findRepository(gateway.db, 'ada', 'r')
  await updateRepository(gateway.db, repository?.id ?? 0, { sizeKib })
  const copy = await newWorkingCopy(t, objectFormat)
  await copy.commit('one')
  await copy.commit('two', incompressible(200_000))
  await copy.git('tag', 'light', 'HEAD~1')
  await copy.git('tag', '-a', '-m', 'First', 'v1')
  await copy.git('push', '--quiet', path, 'main', 'main~1:refs/heads/old', 'light', 'v1')
  const question = { port, path: '/ada/r.git', objectFormat }
  return {
    ...gateway,
    path,
    copy,
    server: (...args: readonly string[]) => git(args, { cwd: path }),
    ask: (other = {}) => askOffer({ ...question, ...other }),
    offered: () => offeredBundle(question),
    async get(path = '', headers: Record<string, string> = {}, method = 'GET') {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers, method })
      return { reply, status: reply.status, bytes: Buffer.from(await reply.arrayBuffer()) }
    },
  }
}

t.test("the advertisement equals git's with the same settings", async (t) => {
  const { ask, offered, path } = await setScene(t)
  const uri = (await offered())?.slice('/ada/r.git/'.length)
  const { status, headers, body } = await ask()
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/x-git-upload-pack-result')
  const settings = [
    'uploadpack.advertiseBundleURIs=true',
    'bundle.version=1',
    'bundle.mode=all',
    `bundle.all.uri=${uri}`,
  ]
  const words = settings.flatMap((setting) => ['-c', setting])
  const answer = await git([...words, 'upload-pack', '--stateless-rpc', '.'], {
    cwd: path,
    input: bundleRequest(),
    environment: { ...pathOf(newer), GIT_PROTOCOL: 'version=2' },
  })
  t.equal(body.toString(), answer)
})

t.test('git answers if there is no bundle to advertise', async (t) => {
  const small = await setScene(t, { sizeKib: BUNDLE_REPOSITORY_KIB_MIN - 1 })
  t.equal((await small.ask()).body.toString(), '0000', 'a small repository')
  const keepsNothing = await setScene(t, { environment: { GATEHOUSE_CACHE_DISK_MAX: '0' } })
  t.equal((await keepsNothing.ask()).body.toString(), '0000', 'a cache that is off')

  const { ask, server, offered } = await setScene(t)
  t.type(await offered(), 'string')
  await server('config', 'bundle.cdn.uri', 'https://cdn.example.com/r.bundle')
  t.match((await ask()).body.toString(), /^[0-9a-f]{4}bundle\.cdn\.uri=https:.*bundle0000$/)
  await server('config', '--unset', 'bundle.cdn.uri')
  await server('config', 'uploadpack.advertiseBundleURIs', 'false')
  t.equal((await ask()).status, 400, 'a repository whose settings disable bundles')
  await server('config', '--unset', 'uploadpack.advertiseBundleURIs')
  t.type(await offered(), 'string')
  await server('update-ref', '-d', 'refs/tags/v1')
  for (const ref of ['refs/tags/light', 'refs/heads/old', 'refs/heads/main']) {
    await server('update-ref', '-d', ref)
  }
  t.equal((await ask()).body.toString(), '0000', 'an empty repository')
  t.equal((await ask({ objectFormat: 'sha256' })).status, 400, 'another object format')
})

t.test('with an older git no bundle is advertised, and git answers', async (t) => {
  const old = { ...newer, version: [2, 39, 5] as const }
  const { ask } = await setScene(t, { git: old })
  t.equal((await ask()).body.toString(), '0000')
})

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`a bundle contains all that a clone would bring (${objectFormat})`, async (t) => {
    const { offered, get, copy, server } = await setScene(t, { objectFormat })
    const path = await offered()
    const making = await get(path)
    t.equal(making.status, 200)
    t.equal(making.reply.headers.get('content-type'), 'application/x-git-bundle')
    const file = join(await temporaryFolder(t), 'all.bundle')
    await writeFile(file, making.bytes)
    const heads = await git(['bundle', 'list-heads', file], { cwd: copy.path })
    const format = '--format=%(objectname) %(refname)'
    t.equal(heads, await server('for-each-ref', format, 'refs/heads', 'refs/tags'))
    t.match(await git(['bundle', 'verify', file], { cwd: copy.path }), /complete history/)
    const clone = await temporaryFolder(t)
    await git(['clone', '--quiet', '--mirror', file, clone], { cwd: '/' })
    t.equal(await git(['fsck', '--full', '--no-progress'], { cwd: clone }), '')
    t.equal(await git(['for-each-ref'], { cwd: clone }), await server('for-each-ref'))
  })
}

t.test('a cached bundle has a length and is served in ranges', async (t) => {
  const { offered, get, port } = await setScene(t)
  const path = await offered()
  const { bytes } = await get(path)
  const kept = await untilCached(`http://127.0.0.1:${port}${path}`)
  t.equal(kept.reply.headers.get('content-length'), String(bytes.length))
  t.equal(kept.reply.headers.get('accept-ranges'), 'bytes')
  t.ok(kept.bytes.equals(bytes))
  const head = await get(path, {}, 'HEAD')
  t.match(head, { status: 200, bytes: Buffer.alloc(0) })
  t.equal(head.reply.headers.get('content-length'), String(bytes.length))
  for (const [from, to] of [
    [0, 0],
    [0, 99],
    [50, 150_000],
    [150_000, bytes.length - 1],
    [bytes.length - 1, bytes.length - 1],
  ] as const) {
    const part = await get(path, { range: `bytes=${from}-${to}` })
    t.equal(part.status, 206)
    const range = `bytes ${from}-${to}/${bytes.length}`
    t.equal(part.reply.headers.get('content-range'), range)
    t.ok(part.bytes.equals(bytes.subarray(from, to + 1)), range)
  }
  const beyond = await get(path, { range: `bytes=${bytes.length}-` })
  t.ok(beyond.status === 200 && beyond.bytes.equals(bytes))
})

t.test(
  'a bundle too large for the memory cache is served from disk in the same ranges',
  async (t) => {
    const environment = { GATEHOUSE_CACHE_MEMORY_MAX: '64KiB' }
    const { offered, get, port } = await setScene(t, { environment })
    const path = await offered()
    const { bytes } = await get(path)
    const kept = await untilCached(`http://127.0.0.1:${port}${path}`)
    t.ok(kept.bytes.equals(bytes))
    const part = await get(path, { range: 'bytes=100000-' })
    t.ok(part.status === 206 && part.bytes.equals(bytes.subarray(100_000)))
  },
)

t.test('a bundle that is requested again is stored as a file, which nginx may send', async (t) => {
  const environment = { GATEHOUSE_HTTP_SENDFILE: 'nginx:/-/internal/' }
  const { offered, get, copy, path: folder, settings } = await setScene(t, { environment })
  await copy.commit('three', incompressible(1_200_000))
  await copy.git('push', '--quiet', folder, 'main')
  const path = (await offered()) ?? ''
  const { bytes } = await get(path)
  await untilAllCached(settings.data.dir)
  const forwarded = { 'x-forwarded-for': '192.0.2.1' }
  const again = await get(path, forwarded)
  t.equal(again.reply.headers.get('x-accel-redirect'), null)
  t.ok(again.bytes.equals(bytes))
  await untilAllCached(settings.data.dir)
  const { reply } = await get(path, forwarded)
  const uri = reply.headers.get('x-accel-redirect') ?? ''
  t.match(uri, /^\/-\/internal\/cache\/packs\//)
  const file = join(settings.data.dir, uri.slice('/-/internal/'.length))
  t.ok((await readFile(file)).equals(bytes))
  const part = await get(path, { ...forwarded, range: 'bytes=10-1000000' })
  t.ok(part.status === 206 && part.bytes.equals(bytes.subarray(10, 1_000_001)))
  t.ok((await get(path)).bytes.equals(bytes), 'a client without a proxy gets the bytes')
})

t.test('a bundle and a clone share one run of git', async (t) => {
  const { offered, get, copy, port, server, settings } = await setScene(t)
  const oids = await server('for-each-ref', '--format=want %(objectname)')
  const lines = ['thin-pack', 'no-progress', 'ofs-delta', 'done', ...oids.split('\n')]
  const head = ['command=fetch', 'agent=git/2.47.3', 'object-format=sha1'].map(packetLine).join('')
  const tail = lines.map((line) => packetLine(`${line}\n`)).join('')
  const body = Buffer.from(`${head}0001${tail}0000`)
  const clone = readFetchAnswer((await postFetch({ port, path: '/ada/r.git', body })).body)
  await untilAllCached(settings.data.dir)
  const bundle = (await get(await offered())).bytes
  t.ok(bundle.subarray(-clone.pack.length).equals(clone.pack))
  t.equal((await objectsOf(clone.pack, copy.path)).length, 7)
  t.match(await countPackCache({ url: `http://127.0.0.1:${port}` }, 'fetch'), { miss: 1 })
})

t.test('any change of the references, also hiding one, invalidates a bundle', async (t) => {
  const { offered, get, server, as } = await setScene(t)
  const seen = new Set<string>()
  const changes = [
    async () => server('update-ref', 'refs/heads/old', 'main'),
    async () => server('update-ref', '-d', 'refs/heads/old'),
    async () => server('tag', 'v2', 'main'),
    async () => server('config', 'uploadpack.hideRefs', 'refs/tags/v1'),
  ]
  for (const change of changes) {
    const path = (await offered()) ?? ''
    t.equal((await get(path)).status, 200)
    t.notOk(seen.has(path))
    seen.add(path)
    await change()
    t.equal((await get(path)).status, 404, change.toString())
  }
  const path = await offered()
  t.equal((await get(path)).status, 200)
  t.notMatch((await get(path)).bytes.toString('latin1'), 'refs/tags/v1')
  for (const other of ['/ada/r.git/bundles/x.bundle', '/ada/r.git/bundles/%00', `${path}x`]) {
    t.equal((await get(other)).status, 404, other)
  }
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  t.equal((await get(path)).status, 401, 'an anonymous client is asked to sign in')
  t.equal((await get('/ada/absent.git/bundles/x.bundle')).status, 401)
})
