/** R packages: conformance of the format, and the paths of a CRAN mirror. */

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { compareVersions } from '../../../registry/cran/version.js'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { addPackageOwner, type PackageOwner } from '../../helpers/package-owners.js'
import { rTarGz, rZip } from '../../helpers/r-packages.js'
import type { Answer } from '../../helpers/requests.js'

const WINDOWS = '/bin?platform=windows&rversion=4.2'
const MAC = '/bin?platform=macosx/big-sur-arm64&rversion=4.2'

function put(body: Buffer, path = '/src'): FormatRequest {
  return { method: 'PUT', path, body }
}

const TOY = { Package: 'toy', Version: '1.0' }
const PROPER = rTarGz(TOY)

const SUBJECT: FormatSubject = {
  format: 'cran',
  publish: async (version, salt) =>
    put(rTarGz({ Package: 'toy', Version: version }, { files: { 'R/toy.R': `# ${salt}\n` } })),
  version: (index) => `1.${index}`,
  file: (version) => `/src/contrib/toy_${version}.tar.gz`,
  list: {
    path: '/src/contrib/PACKAGES',
    // The index has only the highest version, so a lower one counts as seen.
    holds: ({ text }, version) => {
      const listed = /^Package: toy\nVersion: (.+)$/m.exec(text)?.[1]
      return listed !== undefined && compareVersions(listed, version) >= 0
    },
  },
  hostile: async () => ({
    'no archive': put(Buffer.from('hello')),
    nothing: put(Buffer.alloc(0)),
    'no DESCRIPTION': put(rTarGz(TOY, { folder: 'toy/inst' })),
    'a name with a line feed': put(rTarGz('Package: toy\n x: y\nVersion: 1.0\n')),
    'a name that leads out': put(rTarGz({ ...TOY, Package: '..' }, { folder: '..' })),
    'no name': put(rTarGz('Version: 1.0\n')),
    'no version': put(rTarGz('Package: toy\n')),
    'a version that R cannot represent': put(rTarGz({ ...TOY, Version: '1.99999999999' })),
    'a version of a path': put(rTarGz({ ...TOY, Version: '1.0/../../x' })),
    'a second field of one name': put(rTarGz('Package: toy\nVersion: 1.0\nVersion: 2.0\n')),
    'a second record': put(rTarGz('Package: toy\nVersion: 1.0\n\nPackage: x\n')),
    'a carriage return': put(rTarGz({ ...TOY, License: 'GPL\rPackage: x' })),
    'a NUL': put(rTarGz({ ...TOY, License: 'GPL\0' })),
    'a dependency that R stops at': put(rTarGz({ ...TOY, Depends: 'R (>= four)' })),
    'a zip without a package': put(rZip(TOY, { folder: 'a/b' }), WINDOWS),
    'a name that is too long': put(rZip({ ...TOY, Package: 'n'.repeat(256) })),
    'no platform': put(PROPER, '/bin?rversion=4.2'),
    'an empty platform': put(PROPER, '/bin?platform=%20&rversion=4.2'),
    'no version of R': put(PROPER, '/bin?platform=windows'),
    'neither platform nor R version': put(PROPER, '/bin'),
    'a platform that leads out': put(PROPER, '/bin?platform=../x&rversion=4.2'),
    'a version of R in segments': put(PROPER, '/bin?platform=windows&rversion=4/2'),
    'a platform with a line feed': put(PROPER, '/bin?platform=win%0adows&rversion=4.2'),
    'a platform that is long': put(PROPER, `/bin?platform=${'x'.repeat(300)}&rversion=4.2`),
  }),
}

await testFormat(t, SUBJECT)

const gateway = await startGatewayWithUsers(t)
const aRegistry = () => addPackageOwner(gateway, 'cran')

async function publish(registry: PackageOwner, request: FormatRequest): Promise<Answer> {
  const { authorization } = registry
  return await registry.ask({ ...request, path: `${registry.base}${request.path}`, authorization })
}

const get = (registry: PackageOwner, path: string, method = 'GET') =>
  registry.ask({ method, path: `${registry.base}${path}` })

/** Returns the packages and versions of an index, and the files that it names. */
async function indexOf(registry: PackageOwner, folder: string): Promise<readonly string[]> {
  const { text } = await get(registry, `${folder}/PACKAGES`)
  const stanzas = text.split('\n\n').slice(0, -1)
  return stanzas.map((stanza) =>
    ['Package', 'Version', 'File']
      .map((field) => new RegExp(`^${field}: (.*)$`, 'm').exec(stanza)?.[1])
      .filter((value) => value !== undefined)
      .join(' '),
  )
}

t.test('an index is served in each of its forms', async (t) => {
  const registry = await aRegistry()
  const archive = rTarGz({ ...TOY, License: 'GPL-3', Imports: 'utils' })
  t.match(await publish(registry, put(archive)), { status: 201, text: '' })
  const md5 = createHash('md5').update(archive).digest('hex')
  const wanted = [
    'Package: toy',
    'Version: 1.0',
    'License: GPL-3',
    'Imports: utils',
    'NeedsCompilation: no',
    `MD5sum: ${md5}`,
    '',
    '',
  ]
  const plain = await get(registry, '/src/contrib/PACKAGES')
  t.match(plain, { status: 200, headers: { 'content-type': 'text/plain;charset=utf-8' } })
  t.equal(plain.text, wanted.join('\n'))
  const packed = await get(registry, '/src/contrib/PACKAGES.gz')
  t.match(packed, { status: 200, headers: { 'content-type': 'application/x-gzip' } })
  t.equal(packed.headers['content-encoding'], undefined)
  t.equal(gunzipSync(packed.bytes).toString(), plain.text)
  const table = await get(registry, '/src/contrib/PACKAGES.rds')
  t.match(table, { status: 200, headers: { 'content-type': 'application/octet-stream' } })
  t.equal(gunzipSync(table.bytes).subarray(0, 2).toString(), 'X\n')
  const head = await get(registry, '/src/contrib/PACKAGES', 'HEAD')
  t.match(head, { status: 200, headers: { 'content-length': String(plain.bytes.length) } })
  const headers = { 'if-none-match': plain.headers.etag ?? '' }
  const again = await registry.ask({ path: `${registry.base}/src/contrib/PACKAGES`, headers })
  t.equal(again.status, 304)
})

t.test('an index has the highest version, whichever came last', async (t) => {
  const registry = await aRegistry()
  for (const Version of ['1.9', '1.10', '0.5']) {
    t.equal((await publish(registry, put(rTarGz({ ...TOY, Version })))).status, 201)
  }
  t.equal((await publish(registry, put(rTarGz({ Package: 'Alpha', Version: '1.0' })))).status, 201)
  t.strictSame(await indexOf(registry, '/src/contrib'), ['Alpha 1.0', 'toy 1.10'])
  for (const folder of ['/src/contrib', '/src/contrib/Archive/toy']) {
    for (const version of ['1.9', '1.10', '0.5']) {
      t.equal((await get(registry, `${folder}/toy_${version}.tar.gz`)).status, 200, version)
    }
  }
  const path = `/api/v1/packages/${registry.owner.name}/cran/toy/1.10`
  const { authorization } = registry
  t.equal((await registry.ask({ method: 'DELETE', path, authorization })).status, 204)
  t.strictSame(await indexOf(registry, '/src/contrib'), ['Alpha 1.0', 'toy 1.9'])
})

t.test('Meta/archive.rds lists the versions below the highest, after each change', async (t) => {
  const registry = await aRegistry()
  const archived = async () => {
    const answer = await get(registry, '/src/contrib/Meta/archive.rds')
    t.match(answer, { status: 200, headers: { 'content-type': 'application/octet-stream' } })
    return gunzipSync(answer.bytes)
      .toString('latin1')
      .match(/\w+\/\w+_[\d.]+\.tar\.gz/g)
  }
  t.equal((await get(registry, '/src/contrib/Meta/archive.rds')).status, 404)
  await publish(registry, put(rTarGz({ ...TOY, Version: '1.9' })))
  t.equal(await archived(), null)
  for (const Version of ['1.10', '0.5']) await publish(registry, put(rTarGz({ ...TOY, Version })))
  t.strictSame(await archived(), ['toy/toy_0.5.tar.gz', 'toy/toy_1.9.tar.gz'])
  const path = `/api/v1/packages/${registry.owner.name}/cran/toy/1.10`
  await registry.ask({ method: 'DELETE', path, authorization: registry.authorization })
  t.strictSame(await archived(), ['toy/toy_0.5.tar.gz'])
  await publish(registry, put(rZip(TOY), WINDOWS))
  t.equal((await get(registry, '/bin/windows/contrib/4.2/Meta/archive.rds')).status, 404)
  t.equal((await get(registry, '/bin/windows/contrib/4.2/Meta%2Farchive.rds')).status, 404)
})

t.test('binaries of each platform have a separate index', async (t) => {
  const registry = await aRegistry()
  t.equal((await publish(registry, put(rTarGz({ ...TOY, Version: '1.1' })))).status, 201)
  t.equal((await publish(registry, put(rZip(TOY), WINDOWS))).status, 201)
  t.equal((await publish(registry, put(rTarGz(TOY), MAC))).status, 201)
  t.equal(
    (await publish(registry, put(rTarGz(TOY), `${MAC}-x`))).status,
    201,
    'for another R version',
  )
  t.equal((await publish(registry, put(rZip(TOY), WINDOWS))).status, 409)
  t.strictSame(await indexOf(registry, '/src/contrib'), ['toy 1.1'])
  const [windows, mac] = ['/bin/windows/contrib/4.2', '/bin/macosx/big-sur-arm64/contrib/4.2']
  t.strictSame(await indexOf(registry, windows), ['toy 1.0'])
  t.strictSame(await indexOf(registry, mac), ['toy 1.0'])
  const zip = await get(registry, `${windows}/toy_1.0.zip`)
  t.ok(zip.status === 200 && zip.bytes.equals(rZip(TOY)))
  const tgz = await get(registry, `${mac}/toy_1.0.tgz`)
  t.ok(tgz.status === 200 && tgz.bytes.equals(rTarGz(TOY)))
  t.equal((await get(registry, '/bin/macosx/big-sur-arm64/contrib/4.2-x/toy_1.0.tgz')).status, 200)
  for (const suffix of ['PACKAGES.gz', 'PACKAGES.rds']) {
    t.equal((await get(registry, `${windows}/${suffix}`)).status, 200, suffix)
  }
  t.equal((await get(registry, '/bin/macosx/big-sur-arm64%2Fcontrib/4.2/PACKAGES')).status, 404)
})

t.test('a file whose name differs from the one R derives is named in the index', async (t) => {
  const registry = await aRegistry()
  const linux = '/bin?platform=linux&rversion=4.2'
  t.equal((await publish(registry, put(rZip(TOY)))).status, 201)
  t.equal((await publish(registry, put(rTarGz(TOY), WINDOWS))).status, 201)
  t.equal((await publish(registry, put(rZip(TOY), MAC))).status, 201)
  t.equal((await publish(registry, put(rTarGz(TOY), linux))).status, 201)
  t.strictSame(await indexOf(registry, '/src/contrib'), ['toy 1.0 toy_1.0.zip'])
  t.strictSame(await indexOf(registry, '/bin/windows/contrib/4.2'), ['toy 1.0 toy_1.0.tar.gz'])
  const mac = '/bin/macosx/big-sur-arm64/contrib/4.2'
  t.strictSame(await indexOf(registry, mac), ['toy 1.0 toy_1.0.zip'])
  t.equal((await get(registry, `${mac}/toy_1.0.zip`)).status, 200)
  t.strictSame(await indexOf(registry, '/bin/linux/contrib/4.2'), ['toy 1.0'])
})

t.test('a missing file is 404 with an empty body', async (t) => {
  const registry = await aRegistry()
  const indexes = ['PACKAGES', 'PACKAGES.gz', 'PACKAGES.rds'].flatMap((name) => [
    `/src/contrib/${name}`,
    `/bin/windows/contrib/4.2/${name}`,
  ])
  for (const path of indexes) t.match(await get(registry, path), { status: 404, text: '' }, path)
  await publish(registry, put(rTarGz(TOY)))
  await publish(registry, put(rZip(TOY), WINDOWS))
  const paths = [
    '/src/contrib/PACKAGES.xz',
    '/src/contrib/PACKAGES.',
    '/src/contrib/packages',
    '/src/contrib/toy_1.0.zip',
    '/src/contrib/toy_1.1.tar.gz',
    '/src/contrib/toy.tar.gz',
    '/src/contrib/__proto__',
    '/src/contrib/constructor',
    '/src/contrib/..%2FPACKAGES',
    '/src/contrib/Archive/toy/PACKAGES',
    '/src/contrib/Archive/toy/toy_2.0.tar.gz',
    '/bin/windows/contrib/4.2/toy_1.0.tar.gz',
    '/bin/windows/contrib/4.3/PACKAGES',
    '/bin/windows/4.2/PACKAGES',
    '/bin/contrib/4.2/PACKAGES',
    '/bin/windows/contrib/4.2',
    '/bin//contrib/4.2/PACKAGES',
    '/bin/a/../windows/contrib/4.2/PACKAGES',
    '/bin/x',
    '/bin/windows/contrib/4.2/',
    '/bin/win%7Cdows/contrib/4.2/PACKAGES',
  ]
  for (const path of paths) t.match(await get(registry, path), { status: 404, text: '' }, path)
})

t.test('a package name that differs only in case is refused', async (t) => {
  const registry = await aRegistry()
  t.equal((await publish(registry, put(rTarGz(TOY)))).status, 201)
  const refused = await publish(registry, put(rTarGz({ Package: 'Toy', Version: '2.0' })))
  t.match(refused, {
    status: 409,
    text: /a package "toy" already exists: its name differs only in case/,
  })
})

t.test('a package can be uploaded in a form', async (t) => {
  const registry = await aRegistry()
  const start = '--x\r\nContent-Disposition: form-data; name="f"; filename="toy.tar.gz"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(start), PROPER, Buffer.from('\r\n--x--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  t.equal((await publish(registry, { ...put(body), headers })).status, 201)
  t.ok((await get(registry, '/src/contrib/toy_1.0.tar.gz')).bytes.equals(PROPER))
})
