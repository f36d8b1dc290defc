/**
 * A package store has the packages of one owner in one format; unpublished uploads are discarded.
 */

import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { PackageFormat } from '../../conf/package.js'
import { openPackageStore } from '../../registry/lend-package-store.js'
import type { Publication, Upload } from '../../registry/package-store.js'
import type { User } from '../../sql/accounts/users.js'
import { openContext } from '../helpers/gateway.js'

const TOOL: Publication = {
  packageName: 'Tool',
  version: '1.0',
  fileName: 'tool.bin',
  unique: 'version',
  metadata: { about: 'a tool' },
}

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function aRegistry(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const { context, fixture } = await openContext(t, { environment })
  const { registry } = context
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const root = await fixture.addUser('root', { isAdmin: true })
  const lend = (
    user: User | undefined,
    { owner = ada, format = 'generic' }: { owner?: User; format?: PackageFormat } = {},
  ) => {
    const store = openPackageStore(registry, {
      ownerId: owner.id,
      ownerName: owner.name,
      format,
      user,
      index: undefined,
      baseUrl: 'http://code.example.com/packages',
      sourceOf: async () => undefined,
    })
    t.teardown(() => store.close())
    const put = async (text: string, given: Partial<Publication> = {}) =>
      store.publish(await store.receive(bodyOf(text)), { ...TOOL, ...given })
    return { store, put }
  }
  const incoming = () => readdir(registry.storage.incomingFolder)
  return { registry, db: fixture.db, ada, bob, root, lend, incoming }
}

const GET = {
  id: '1',
  method: 'GET',
  path: '/',
  query: '',
  address: '',
  scheme: 'http',
  headers: new Map<string, string>(),
  body: bodyOf(''),
  signal: AbortSignal.abort(),
}

t.test('a published file is found in any case, and only in its store', async (t) => {
  const { ada, bob, lend } = await aRegistry(t)
  const { store, put } = lend(ada)
  await put('one')
  const name = { packageName: 'tOOL', version: '1.0', fileName: 'TOOL.bin' }
  t.match(await store.findFile(name), { name: 'tool.bin', bytes: 3 })
  const found = await store.findPackage('tool')
  t.equal(found?.name, 'Tool')
  const id = found?.id ?? 0
  t.match(await store.findVersion(id, '1.0'), { metadata: { about: 'a tool' } })
  t.match(await store.listVersions(id), [{ version: '1.0' }])
  t.match(await store.listFullVersions(id), [{ version: '1.0', files: [{ name: 'tool.bin' }] }])
  for (const other of [lend(ada, { owner: bob }), lend(ada, { format: 'cran' })]) {
    t.equal(await other.store.findFile(name), undefined)
    t.equal(await other.store.findPackage('tool'), undefined)
    t.equal((await other.store.listPackages({})).total, 0)
    t.equal(await other.store.removeFile(name), false)
    t.equal(await other.store.removeVersion('tool', '1.0'), false)
  }
  t.ok(await store.findFile(name))
  await store.close()
})

t.test('packages are listed by page, completely, or by property', async (t) => {
  const { ada, lend } = await aRegistry(t)
  const { store, put } = lend(ada)
  for (const packageName of ['c', 'a', 'b']) {
    await put(packageName, { packageName, properties: [{ name: 'letter', value: packageName }] })
  }
  const names = async (question: Parameters<typeof store.listPackages>[0]) => {
    const { packages, total } = await store.listPackages(question)
    return [packages.map(({ name }) => name).join(''), total] as const
  }
  t.strictSame(await names({}), ['abc', 3])
  t.strictSame(await names({ limit: 2 }), ['ab', 3])
  t.strictSame(await names({ limit: 2, page: 2 }), ['c', 3])
  t.strictSame(await names({ limit: 2, page: 3 }), ['', 3])
  t.strictSame(await names({ text: 'B' }), ['b', 1])
  t.strictSame(await names({ property: { name: 'letter', value: 'c' } }), ['c', 1])
  t.strictSame(await names({ property: { name: 'letter', value: 'd' } }), ['', 0])
  await store.close()
})

t.test('only a GET from the first byte counts as a download', async (t) => {
  const { registry, ada, lend } = await aRegistry(t)
  const { store, put } = lend(ada)
  await put('some text')
  const name = { packageName: 'tool', version: '1.0', fileName: 'tool.bin' }
  const file = await store.findFile(name)
  if (file === undefined) throw new Error('there is a file')
  const ranged = (range: string) => ({ ...GET, headers: new Map([['range', range]]) })
  const statuses = [
    await store.serve(file, GET, {}),
    await store.serve(file, ranged('bytes=0-3'), {}),
    await store.serve(file, ranged('bytes=4-'), {}),
    await store.serve(file, { ...GET, method: 'HEAD' }, {}),
    await store.serve(file, { ...GET, headers: new Map([['if-none-match', '*']]) }, {}),
  ].map(({ status }) => status)
  t.strictSame(statuses, [200, 206, 206, 200, 304])
  await registry.downloads.flush()
  t.equal((await store.findFile(name))?.downloads, 2)
  await store.serve(file, GET, { isReported: true })
  await registry.downloads.flush()
  t.equal((await store.findFile(name))?.downloads, 2, 'the client reports it itself')
  await store.countDownloads([{ packageName: 'TOOL', version: '1.0' }])
  await registry.downloads.flush()
  t.equal((await store.findFile(name))?.downloads, 3, 'the client has reported it')
  await store.close()
})

t.test('a document is made once after each change', async (t) => {
  const { ada, lend } = await aRegistry(t)
  const { store, put } = lend(ada)
  let made = 0
  const document = async () => {
    const found = await store.findPackage('tool')
    if (found === undefined) throw new Error('there is a package')
    const make = async () => {
      made += 1
      return (await store.listVersions(found.id)).map(({ version }) => version).join()
    }
    const options = { kind: 'list', contentType: 'text/plain', make }
    return (await store.document(found, GET, options)).body?.toString()
  }
  await put('one')
  t.equal(await document(), '1.0')
  t.equal(await document(), '1.0')
  t.equal(made, 1)
  await put('two', { version: '2.0' })
  t.equal(await document(), '2.0,1.0')
  await store.removeVersion('tool', '1.0')
  t.equal(await document(), '2.0')
  const file = { packageName: 'tool', version: '2.0', fileName: 'tool.bin' }
  t.equal(await store.removeFile(file), true)
  t.equal(await store.findPackage('tool'), undefined)
  await store.close()
})

t.test('uploads that are not published are discarded at the end', async (t) => {
  const { ada, lend, incoming } = await aRegistry(t)
  const { store, put } = lend(ada)
  await put('one')
  const upload = await store.receive(bodyOf('two'))
  await store.receive(bodyOf('three'))
  t.equal((await upload.read(0, 3)).toString(), 'two')
  t.equal((await incoming()).length, 2)
  await store.close()
  t.strictSame(await incoming(), [])
  await t.rejects(store.publish(upload, { ...TOOL, version: '2.0' }), /was not received/)
})

t.test("anonymous clients cannot publish, nor can a store publish another's upload", async (t) => {
  const { ada, lend } = await aRegistry(t)
  const anonymous = lend(undefined)
  await t.rejects(anonymous.put('one'), /anonymous caller cannot publish/)
  const { store } = lend(ada)
  const foreign: Upload = await anonymous.store.receive(bodyOf('two'))
  await t.rejects(store.publish(foreign, TOOL), /was not received/)
  t.equal(await store.findPackage('tool'), undefined)
  await store.close()
  await anonymous.store.close()
})

t.test('size limits apply per format and owner, and not to site administrators', async (t) => {
  const { ada, root, lend, incoming } = await aRegistry(t, {
    GATEHOUSE_PACKAGES_SIZE_MAX: '10',
    GATEHOUSE_PACKAGES_OWNER_SIZE_MAX: '15',
  })
  const { store, put } = lend(ada)
  const tooLarge = { failure: 'forbidden', message: /package type size exceeded/ }
  await t.rejects(put('x'.repeat(11)), tooLarge)
  t.strictSame(await incoming(), [])
  await put('x'.repeat(10))
  const tooMuch = { failure: 'forbidden', message: /quota exceeded/ }
  await t.rejects(put('y'.repeat(6), { version: '2.0' }), tooMuch)
  const admin = lend(root)
  await admin.put('z'.repeat(100), { version: '3.0' })
  await store.close()
  await admin.store.close()
  t.strictSame(await incoming(), [])
})
