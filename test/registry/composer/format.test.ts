/** Composer packages: conformance of the format, and documents that Composer 2 reads. */

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import { packageTar, packageTarGz, packageZip } from '../../helpers/composer-packages.js'
import { forEachDatabase } from '../../helpers/databases.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { addPackageOwner, type PackageOwner } from '../../helpers/package-owners.js'

const NAME = 'acme/lib'

function put(body: Buffer, query = ''): FormatRequest {
  return { method: 'PUT', path: query, body }
}

function putJson(fields: Readonly<Record<string, unknown>> | string): FormatRequest {
  return put(packageZip(fields))
}

const fine = { name: NAME, version: '1.0.0' }

const SUBJECT: FormatSubject = {
  format: 'composer',
  publish: async (version, salt) =>
    put(packageZip({ name: NAME, version }, { files: { 'salt.txt': salt } })),
  version: (index) => `1.${index}.0`,
  file: (version) => `/files/acme%2Flib/${version}/acme-lib.${version}.zip`,
  list: {
    path: '/p2/acme/lib.json',
    holds: ({ text }, version) =>
      JSON.parse(text).packages[NAME].some((one: { version: string }) => one.version === version),
  },
  hostile: async () => ({
    'an empty body': put(Buffer.alloc(0)),
    'three bytes': put(Buffer.from('PK\x03')),
    'no archive': put(Buffer.from('<?php echo 1;')),
    'a truncated zip': put(packageZip(fine).subarray(0, 60)),
    'gzip data that is not a tar archive': put(gzipSync('hello')),
    'a truncated tar.gz': put(packageTarGz(fine).subarray(0, 100)),
    'a tar that is not compressed': put(packageTar(fine)),
    'no composer.json': put(packageZip('', { folder: 'a/b/' })),
    'no JSON': putJson('{'),
    'no object': putJson('[]'),
    'no name': putJson({ version: '1.0.0' }),
    'a name in capitals': putJson({ ...fine, name: 'Acme/Lib' }),
    'a name with NUL': putJson({ ...fine, name: 'acme/lib\0' }),
    'a name that leads out of the folder': putJson({ ...fine, name: 'acme/../lib' }),
    'a name made to take long': putJson({ ...fine, name: `acme/${'a'.repeat(60_000)}!` }),
    'a name that is too long': putJson({ ...fine, name: `acme/${'a'.repeat(251)}` }),
    'no version': putJson({ name: NAME }),
    'an invalid version': putJson({ ...fine, version: 'latest' }),
    'a version that is a number': putJson({ ...fine, version: 1 }),
    'a version that is an alias': putJson({ ...fine, version: 'dev-main as 1.0' }),
    'a version with a line feed': putJson({ ...fine, version: '1.0.0\n2.0.0' }),
    'an invalid version in the address': put(packageZip({ name: NAME }), '?version=latest'),
    'a field of the wrong type': putJson({ ...fine, require: 'php' }),
    'a very deep field': putJson(
      `{"name":"a/b","version":"1","extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ),
    'a large composer.json': put(packageTarGz({ ...fine, x: 'x'.repeat(2_000_000) })),
  }),
}

await testFormat(t, SUBJECT)

const gateway = await startGatewayWithUsers(t)
const aRegistry = () => addPackageOwner(gateway, 'composer')

interface Given {
  readonly query?: string
  readonly archive?: Buffer
}

async function publish(
  registry: PackageOwner,
  fields: Readonly<Record<string, unknown>>,
  given: Given = {},
) {
  return await registry.ask({
    method: 'PUT',
    path: `${registry.base}${given.query ?? ''}`,
    body: given.archive ?? packageZip(fields),
    authorization: registry.authorization,
  })
}

async function document(
  registry: PackageOwner,
  path: string,
): Promise<readonly Record<string, unknown>[]> {
  const { json } = await registry.ask({ path: `${registry.base}/p2/${path}` })
  return Object.values((json as { packages: Record<string, []> }).packages)[0] ?? []
}

t.test('a refusal is JSON that Composer displays', async (t) => {
  const registry = await aRegistry()
  const refused = await publish(registry, { name: 'none' })
  t.equal(refused.headers['content-type'], 'application/json;charset=utf-8')
  t.match(refused.json, { errors: [{ status: 400, message: /"name" must be vendor\/project/ }] })
  const none = await registry.ask({ path: `${registry.base}/p2/acme/none.json` })
  t.strictSame(none.json, { errors: [{ status: 404, message: 'package does not exist' }] })
})

t.test('the index leads to all other documents', async (t) => {
  const registry = await aRegistry()
  const { json } = await registry.ask({ path: `${registry.base}/packages.json` })
  const { origin } = new URL((json as { list: string }).list)
  t.strictSame(json, {
    'metadata-url': `${origin}${registry.base}/p2/%package%.json`,
    list: `${origin}${registry.base}/list.json`,
    search: `${origin}${registry.base}/search.json?q=%query%&type=%type%`,
    'providers-api': `${origin}${registry.base}/providers/%package%.json`,
    'notify-batch': `${origin}${registry.base}/downloads`,
  })
})

t.test('a record has all fields of composer.json and those of the registry', async (t) => {
  const registry = await aRegistry()
  const fields = {
    description: 'A library',
    license: ['MIT'],
    require: { php: '>=8.1' },
    replace: { 'acme/old': 'self.version' },
    conflict: { 'a/b': '*' },
    provide: {},
    support: { email: 'a@example.test' },
    abandoned: 'acme/new',
    extra: { a: { b: [1] } },
    autoload: { 'psr-4': { 'Acme\\': 'src/' } },
    unknown: null,
  }
  const foreign = {
    dist: 1,
    source: {},
    'transport-options': {},
    'notification-url': 'x',
    time: '1',
  }
  const archive = packageZip({ ...fields, ...foreign, ...fine, type: 'Symfony-Bundle' })
  t.equal((await publish(registry, {}, { archive })).status, 201)
  const [record = {}] = await document(registry, 'acme/lib.json')
  const { dist, time, ...rest } = record
  t.strictSame(rest, {
    ...fields,
    name: NAME,
    version: '1.0.0',
    version_normalized: '1.0.0.0',
    type: 'symfony-bundle',
  })
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const sha1 = createHash('sha1').update(archive).digest('hex')
  const { url, ...distRest } = dist as { url: string }
  t.strictSame(distRest, { type: 'zip', reference: sha1, shasum: sha1 })
  t.match(
    url,
    /\/api\/packages\/owner-\d+\/composer\/files\/acme%2Flib\/1\.0\.0\/acme-lib\.1\.0\.0\.zip$/,
  )
  t.strictSame((await registry.ask({ path: new URL(url).pathname })).bytes, archive)
})

await forEachDatabase(
  t,
  'the largest composer.json is accepted, in any script',
  async (t, location) => {
    const registry = await addPackageOwner(await startGatewayWithUsers(t, { location }), 'composer')
    const description = 'Größe 中文 😀 "quoted" \\ \n'
    const keywords = Array.from(
      { length: 19_900 },
      (_, index) => `😀 "keyword" ${index} of many more`,
    )
    t.equal((await publish(registry, { ...fine, description, keywords })).status, 201)
    const [record] = await document(registry, 'acme/lib.json')
    t.match(record, { description, keywords })
    const found = await registry.ask({ path: `${registry.base}/search.json?q=lib` })
    t.match(found.json, { results: [{ description }] })
  },
)

t.test('releases and branches are in separate documents', async (t) => {
  const registry = await aRegistry()
  for (const version of ['1.0', '1.x-dev', 'dev-main', 'v2.0.0-RC1', 'dev-feature/ü']) {
    t.equal((await publish(registry, { name: NAME, version })).status, 201, version)
  }
  const versionsOf = async (path: string) =>
    (await document(registry, path)).map(({ version }) => version)
  t.strictSame(await versionsOf('acme/lib.json'), ['v2.0.0-RC1', '1.0'])
  t.strictSame(await versionsOf('acme/lib~dev.json'), ['dev-feature/ü', 'dev-main', '1.x-dev'])
  for (const { version, dist } of await document(registry, 'acme/lib~dev.json')) {
    const { pathname } = new URL((dist as { url: string }).url)
    t.equal((await registry.ask({ path: pathname })).status, 200, `${version} at ${pathname}`)
  }
})

t.test('a version is published once, in whichever notation', async (t) => {
  const registry = await aRegistry()
  const first = await publish(registry, { name: NAME, version: '1.0' })
  t.equal(first.status, 201)
  t.equal((await publish(registry, { name: NAME, version: 'dev-Main' })).status, 201)
  const same = ['1.0', '1.0.0', 'v1.0.0.0', '1.0.0+build', '1.0-stable', 'dev-main']
  for (const version of same) {
    const again = await publish(registry, { name: NAME, version })
    t.match(again, { status: 409, json: { errors: [{ status: 409 }] } }, version)
  }
  t.equal((await publish(registry, { name: NAME, version: '1.0.0.1' })).status, 201)
  t.equal((await publish(registry, { name: NAME, version: '1.0-dev' })).status, 201)
})

t.test('of concurrent uploads of one version in several notations one is accepted', async (t) => {
  const registry = await aRegistry()
  const spellings = ['1.0', '1', 'v1.0.0', '1.0.0.0', '1.0.0+a', '1.0.0+b', 'v1', '1.0-stable']
  const answers = await Promise.all(
    spellings.map((version) => publish(registry, { name: NAME, version })),
  )
  const statuses = answers.map(({ status }) => status).sort()
  t.strictSame(statuses, [201, ...spellings.slice(1).map(() => 409)])
  t.equal((await document(registry, 'acme/lib.json')).length, 1)
})

t.test('the version of the request is used if composer.json has none', async (t) => {
  const registry = await aRegistry()
  const nameless = { name: NAME }
  t.equal((await publish(registry, nameless, { query: '?version=2.0.0' })).status, 201)
  t.equal((await publish(registry, nameless, { query: '?version=2.1.0+build' })).status, 201)
  const both = { name: NAME, version: 'v3.0' }
  t.equal(
    (await publish(registry, both, { query: '?version=3.0.0' })).status,
    201,
    'both are equal',
  )
  t.equal(
    (await publish(registry, { ...both, version: '4.0' }, { query: '?version=' })).status,
    201,
  )
  const versions = (await document(registry, 'acme/lib.json')).map(({ version }) => version)
  t.strictSame(versions, ['4.0', 'v3.0', '2.1.0+build', '2.0.0'])

  const differs = await publish(registry, { name: NAME, version: '5.0' }, { query: '?version=5.1' })
  const message = 'composer.json has version "5.0", but the query parameter version is "5.1".'
  t.strictSame(differs.json, { errors: [{ status: 400, message }] })
  t.equal((await document(registry, 'acme/lib.json')).length, 4, 'nothing was published')
})

t.test('a tar archive has the type tar and may have one top folder', async (t) => {
  const registry = await aRegistry()
  const archive = packageTarGz(fine, { folder: 'lib-1.0.0/' })
  t.equal((await publish(registry, {}, { archive })).status, 201)
  const [record] = await document(registry, 'acme/lib.json')
  t.match(record, { dist: { type: 'tar', url: /acme-lib\.1\.0\.0\.tar\.gz$/ } })
})

t.test('packages are found by name and type, page by page', async (t) => {
  const registry = await aRegistry()
  for (const name of ['acme/one', 'acme/two', 'other/three']) {
    const type = name === 'acme/two' ? 'project' : 'library'
    await publish(registry, { name, version: '1.0', type, description: `This is ${name}` })
  }
  await publish(registry, {
    name: 'acme/one',
    version: '1.1',
    description: 'Newer',
    abandoned: true,
  })
  const search = async (query: string) =>
    (await registry.ask({ path: `${registry.base}/search.json${query}` })).json as {
      results: ReadonlyArray<Record<string, unknown>>
      total: number
      next?: string
    }
  const names = async (query: string) => (await search(query)).results.map(({ name }) => name)
  t.strictSame(await names('?q=ACME&type='), ['acme/one', 'acme/two'])
  t.strictSame(await names('?q=&type=project'), ['acme/two'])
  t.strictSame(await names(''), ['acme/one', 'acme/two', 'other/three'])
  t.strictSame((await search('?q=one')).results, [
    { name: 'acme/one', description: 'Newer', downloads: 0, abandoned: true },
  ])
  const first = await search('?q=acme&per_page=1&x=secret')
  t.match(first, { total: 2, next: /\/search\.json\?page=2&per_page=1&q=acme$/ })
  const { pathname, search: query } = new URL(first.next ?? '')
  t.match((await registry.ask({ path: `${pathname}${query}` })).json, {
    results: [{ name: 'acme/two' }],
    next: undefined,
  })
  t.match(await search('?q=acme&page=9'), { results: [], total: 2 })
  for (const q of ['%00', '%25', '_', '%F0%9F%98%80', '%27', '%FF', 'x'.repeat(2_000)]) {
    t.match(await search(`?q=${q}`), { results: [], total: 0 }, q.slice(0, 9))
  }
  for (const odd of ['?page=0&per_page=0', '?page=-1&per_page=x', '?per_page=999999999999']) {
    t.equal((await search(odd)).results.length, 3, odd)
  }
})

t.test('the packages that provide a name are listed', async (t) => {
  const registry = await aRegistry()
  const provide = { 'acme/Log': '1.0', 'ext-log': '*' }
  await publish(registry, { ...fine, provide, description: 'Logs' })
  await publish(registry, { ...fine, version: '1.1' })
  await publish(registry, { name: 'acme/other', version: '1.0', provide: { 'acme/log': '2.0' } })
  const of = async (document: string) =>
    (await registry.ask({ path: `${registry.base}/providers/${document}` })).json
  const lib = { name: NAME, description: '', type: 'library' }
  const other = { ...lib, name: 'acme/other' }
  t.strictSame(await of('acme/log.json'), { providers: [lib, other] })
  t.strictSame(await of('ext-log.json'), { providers: [lib] })
  for (const none of ['acme/lib.json', 'none', '', `${'a'.repeat(3_000)}.json`]) {
    t.strictSame(await of(none), { providers: [] }, none.slice(0, 9))
  }
})

t.test('installations that Composer reports are counted, and its downloads are not', async (t) => {
  const registry = await aRegistry()
  for (const version of ['1.0', '1.x-dev']) await publish(registry, { name: NAME, version })
  const report = async (body: string) =>
    await registry.ask({
      method: 'POST',
      path: `${registry.base}/downloads`,
      body: Buffer.from(body),
    })
  const reported = (downloads: unknown) => report(JSON.stringify({ downloads }))
  /** Waits until so many downloads are counted, because they are written once a second. */
  const downloads = async (wanted: number) => {
    for (;;) {
      const { json } = await registry.ask({ path: `${registry.base}/search.json` })
      const [found] = (json as { results: [{ downloads: number }] }).results
      if (found.downloads >= wanted) return found.downloads
      await sleep(50)
    }
  }
  const both = ['1.0.0.0', '1.9999999.9999999.9999999-dev'].map((version) => ({
    name: NAME,
    version,
  }))
  t.match(await reported([...both, { name: 'acme/none', version: '1.0.0.0' }]), {
    status: 200,
    json: { status: 'success' },
  })
  t.equal(await downloads(2), 2)
  t.equal((await reported([...both, ...both])).status, 200)
  t.equal(await downloads(4), 4, 'a version is counted once in a report')
  const path = `${registry.base}/files/acme%2Flib/1.0.0/acme-lib.1.0.0.zip`
  for (const agent of ['Composer/2.5.5 (Linux; PHP 8.2)', 'curl/8']) {
    t.equal((await registry.ask({ path, headers: { 'user-agent': agent } })).status, 200)
  }
  t.equal(await downloads(5), 5)
  const refused = await Promise.all(
    ['', '{', 'null', '[]', '{"downloads":{}}', `{"downloads":[${'1,'.repeat(1_000)}1]}`].map(
      report,
    ),
  )
  t.strictSame(
    refused.map(({ status }) => status),
    refused.map(() => 400),
  )
  t.equal((await report(' '.repeat(131_073))).status, 413)
  await reported(both)
  t.equal(await downloads(7), 7)
})

t.test('the list has all names, or those that match the filter', async (t) => {
  const registry = await aRegistry()
  t.strictSame(await listOf(registry), [])
  for (const name of ['acme/one', 'acme/two', 'acmes/one'])
    await publish(registry, { ...fine, name })
  t.strictSame(await listOf(registry), ['acme/one', 'acme/two', 'acmes/one'])
  t.strictSame(await listOf(registry, '?vendor=acme'), ['acme/one', 'acme/two'])
  t.strictSame(await listOf(registry, '?filter=*%2Fo*'), ['acme/one', 'acmes/one'])
  t.strictSame(await listOf(registry, '?vendor=acme&filter=acme/t*'), ['acme/two'])
})

async function listOf(registry: PackageOwner, query = ''): Promise<unknown> {
  const { json } = await registry.ask({ path: `${registry.base}/list.json${query}` })
  return (json as { packageNames: unknown }).packageNames
}

t.test('a missing package is 404, whatever its name', async (t) => {
  const registry = await aRegistry()
  await publish(registry, fine)
  const paths = [
    '/p2/acme/none.json',
    '/p2/acme/lib',
    '/p2/acme/lib.JSON',
    '/p2/acme/.json',
    '/p2/acme/lib~dev',
    '/p2/acme%2Flib.json',
    '/p2/..%2F/lib.json',
    '/p2/acme/lib%00.json',
    '/files/acme%2Flib/1.0.0/other.zip',
    '/files/acme%2Flib/2.0.0/acme-lib.1.0.0.zip',
    `/p2/acme/${'a'.repeat(300)}!.json`,
  ]
  for (const path of paths)
    t.equal((await registry.ask({ path: `${registry.base}${path}` })).status, 404, path)
  await isUnchangedFor(t, registry)
})

/** Checks conditional requests, because Composer requests each document repeatedly. */
async function isUnchangedFor(t: Test, registry: PackageOwner): Promise<void> {
  const path = `${registry.base}/p2/acme/lib.json`
  const { etag = '' } = (await registry.ask({ path })).headers
  const headers = { 'if-none-match': etag }
  t.match(await registry.ask({ path, headers }), { status: 304, text: '' })
  await publish(registry, { name: NAME, version: '2.0' })
  t.equal((await registry.ask({ path, headers })).status, 200)
}
