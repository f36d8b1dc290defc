/** Debian packages: conformance of the format, and indexes of distributions. */

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import { arOf, controlOf, DEBIAN_BINARY, debOf, pack } from '../../helpers/debs.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { addPackageOwner } from '../../helpers/package-owners.js'
import { type TarPiece, tarOf } from '../../helpers/tar-bytes.js'

const PLACE = '/pool/bookworm/main'

function put(body: Buffer, place = PLACE): FormatRequest {
  return { method: 'PUT', path: `${place}/upload`, body }
}

function putControl(fields: Readonly<Record<string, string>>): FormatRequest {
  return put(debOf({ control: controlOf(fields) }))
}

const GOOD = debOf({ control: controlOf({}) })

/** Keys that are made quickly; journeys/debian has those of the default type. */
const environment = { GATEHOUSE_PACKAGES_DEBIAN_SIGNING_KEY: 'ed25519' }

const SUBJECT: FormatSubject = {
  format: 'debian',
  environment,
  publish: async (version, salt) => putControl({ Version: version, 'X-Salt': salt }),
  version: (index) => `1:1.${index}~rc1+b1-1`,
  file: (version) => `${PLACE}/hello-tool_${version.replace(':', '%3a')}_amd64.deb`,
  list: {
    path: '/dists/bookworm/main/binary-amd64/Packages',
    holds: ({ text }, version) => text.includes(`\nVersion: ${version}\n`),
  },
  remove: (version) => ({ method: 'DELETE', path: `${PLACE}/hello-tool/${version}/amd64` }),
  hostile: async () => ({
    nothing: put(Buffer.alloc(0)),
    'a text': put(Buffer.from('<html>')),
    'half a package': put(GOOD.subarray(0, GOOD.length / 2)),
    'a package without a control file': put(arOf([DEBIAN_BINARY])),
    'a bomb': put(
      arOf([
        DEBIAN_BINARY,
        { name: 'control.tar.xz', body: pack(Buffer.alloc(17 << 20), '.xz', '-0') },
      ]),
    ),
    'a distribution of dots': put(GOOD, '/pool/../main'),
    'a distribution with a slash': put(GOOD, '/pool/noble%2f..%2fx/main'),
    'a distribution with a space': put(GOOD, '/pool/no%20ble/main'),
    'a distribution that is blank': put(GOOD, '/pool/%20/main'),
    'a component with a line feed': put(GOOD, '/pool/bookworm/main%0ax'),
    'a component that is taken': put(GOOD, '/pool/bookworm/by-hash'),
    'a component with the sign between both': put(GOOD, '/pool/bookworm/a%7cb'),
    'a name in capitals': putControl({ Package: 'Hello' }),
    'a name that leads out of the folder': putControl({ Package: '../x' }),
    'a name that is too long': putControl({ Package: 'a'.repeat(300) }),
    'a version with a slash': putControl({ Version: '1/2' }),
    'a version that is too long': putControl({ Version: '1'.repeat(300) }),
    'a file name that is too long': putControl({
      Package: 'a'.repeat(150),
      Version: '1'.repeat(150),
    }),
    'an invalid architecture': putControl({ Architecture: 'any' }),
    'a second paragraph': putControl({ Description: 'x\n\nPackage: evil' }),
    'a Filename field in the package': putControl({ Filename: 'pool/other/x.deb' }),
    'a field twice': putControl({ package: 'evil' }),
  }),
}

await testFormat(t, SUBJECT)

const gateway = await startGatewayWithUsers(t, { environment })

interface Publication {
  readonly fields?: Readonly<Record<string, string>>
  readonly files?: readonly TarPiece[]
  readonly place?: string
}

/** Returns functions that read, publish and delete packages of a new user. */
async function aRepository() {
  const { base, authorization } = await addPackageOwner(gateway, 'debian')
  const send = (method: string, path: string, body?: Buffer) =>
    gateway.ask({ method, path: base + path, authorization, ...(body ? { body } : {}) })
  return {
    send,
    get: (path: string, headers = {}) => gateway.ask({ path: base + path, headers }),
    remove: (path: string) => send('DELETE', path),
    async publish({ fields = {}, files = [], place = PLACE }: Publication = {}) {
      const { path, body } = put(debOf({ control: controlOf(fields), files }), place)
      return await send('PUT', path, body)
    },
  }
}

t.test('a distribution lists its packages and no others', async (t) => {
  const { get, publish, remove } = await aRepository()
  t.equal((await get('/dists/bookworm/Release')).status, 404, 'before any package exists')
  const places = ['/pool/bookworm/main', '/pool/bookworm/contrib', '/pool/trixie/main']
  for (const place of places) t.equal((await publish({ place })).status, 201, place)
  await publish({ fields: { Package: 'docs', Architecture: 'all' } })
  const release = await get('/dists/bookworm/Release')
  t.match(release.text, '\nComponents: contrib main\nArchitectures: all amd64\n')
  t.match((await get('/dists/trixie/InRelease')).text, '\nComponents: main\nArchitectures: amd64\n')
  const packages = (await get('/dists/bookworm/main/binary-all/Packages')).text
  t.match(packages, /^Package: docs\n/)
  t.notMatch(packages, /hello-tool/)
  const packed = await get('/dists/bookworm/main/binary-all/Packages.gz')
  t.equal(gunzipSync(packed.bytes).toString(), packages)
  t.equal((await get('/dists/bookworm/main/all/Packages')).text, packages, 'without its prefix')
  t.equal((await remove(`${PLACE}/docs/1.0/all`)).status, 204)
  t.equal((await get('/dists/bookworm/main/binary-all/Packages')).status, 404)
  t.match((await get('/dists/bookworm/Release')).text, '\nArchitectures: amd64\n')
  t.equal((await remove('/pool/trixie/main/hello-tool/1.0/amd64')).status, 204)
  for (const file of ['Release', 'InRelease', 'Release.gpg', 'main/binary-amd64/Packages']) {
    t.equal(
      (await get(`/dists/trixie/${file}`)).status,
      404,
      `${file} of a distribution without packages`,
    )
  }
  t.equal((await get('/pool/bookworm/contrib/hello-tool_1.0_amd64.deb')).status, 200)
  t.equal((await get('/pool/trixie/main/hello-tool_1.0_amd64.deb')).status, 404)
})

t.test('a package can be in several distributions and components, once in each', async (t) => {
  const { publish } = await aRepository()
  for (const place of [PLACE, '/pool/bookworm/contrib', '/pool/trixie/main']) {
    t.equal((await publish({ place })).status, 201)
    t.match(await publish({ place }), { status: 409, text: 'package file already exists' })
  }
})

t.test('lists are found by their strong digests, in both folders and after a change', async (t) => {
  const { get, publish } = await aRepository()
  await publish()
  const digestOf = (algorithm: string, bytes: Buffer) =>
    createHash(algorithm).update(bytes).digest('hex')
  const list = '/dists/bookworm/main/binary-amd64'
  const old = (await get(`${list}/Packages.gz`)).bytes
  const release = (await get('/dists/bookworm/InRelease')).bytes
  await publish({ fields: { Version: '2.0' } })
  t.notOk((await get(`${list}/Packages.gz`)).bytes.equals(old))
  for (const [name, algorithm] of [
    ['SHA256', 'sha256'],
    ['SHA512', 'sha512'],
    ['sha256', 'sha256'],
  ] as const) {
    const found = await get(`${list}/by-hash/${name}/${digestOf(algorithm, old)}`)
    t.equal(found.status, 200, name)
    t.ok(found.bytes.equals(old), name)
    const above = await get(`/dists/bookworm/by-hash/${name}/${digestOf(algorithm, release)}`)
    t.ok(above.bytes.equals(release), name)
    const upper = digestOf(algorithm, old).toUpperCase()
    t.equal((await get(`${list}/by-hash/${name}/${upper}`)).status, 200)
  }
  for (const path of [
    `/by-hash/MD5Sum/${digestOf('md5', old)}`,
    `/by-hash/SHA1/${digestOf('sha1', old)}`,
    `/by-hash/SHA999/${digestOf('sha512', old)}`,
    `/by-hash/SHA256/${'0'.repeat(64)}`,
    `/by-hash/SHA256/${digestOf('sha512', old)}`,
    '/by-hash/SHA256/..',
    '/by-hash/SHA256/x%27%20or%201=1',
  ]) {
    t.equal((await get(list + path)).status, 404, path)
  }
  const elsewhere = `/dists/trixie/by-hash/SHA256/${digestOf('sha256', old)}`
  t.equal((await get(elsewhere)).status, 404)
})

t.test('Contents lists the paths of all packages of an architecture', async (t) => {
  const { get, publish, remove } = await aRepository()
  const contents = '/dists/bookworm/main/Contents-amd64'
  await publish({ fields: { Package: 'empty' } })
  t.equal((await get(contents)).status, 404, 'no package has a file')
  await publish({ files: [{ path: './usr/bin/hello' }] })
  await publish({ fields: { Version: '2' }, files: [{ path: './usr/bin/hello2' }] })
  await publish({ fields: { Architecture: 'all' }, files: [{ path: './usr/share/x' }] })
  await publish({ place: '/pool/bookworm/contrib', files: [{ path: './opt/x' }] })
  const lines = async (path: string) => (await get(path)).text.replace(/ +/g, ' ')
  const all = 'usr/bin/hello hello-tool\nusr/bin/hello2 hello-tool\n'
  t.equal(await lines(contents), all)
  t.equal(
    gunzipSync((await get(`${contents}.gz`)).bytes)
      .toString()
      .replace(/ +/g, ' '),
    all,
  )
  t.equal(await lines('/dists/bookworm/main/Contents-all'), 'usr/share/x hello-tool\n')
  t.equal(await lines('/dists/bookworm/contrib/Contents-amd64'), 'opt/x hello-tool\n')
  const release = (await get('/dists/bookworm/Release')).text
  t.match(release, /^ [0-9a-f]{64} \d+ main\/Contents-amd64\.gz$/m)
  t.match(release, /\nComponents: contrib main\nArchitectures: all amd64\n/)
  t.equal((await remove(`${PLACE}/hello-tool/2/amd64`)).status, 204)
  t.equal(await lines(contents), 'usr/bin/hello hello-tool\n')
  for (const path of ['main/Release', 'main%2fbinary-amd64/Packages', 'Contents-amd64']) {
    t.equal((await get(`/dists/bookworm/${path}`)).status, 404, path)
  }
})

t.test('a package with a damaged data archive is published without its paths', async (t) => {
  const { get, send } = await aRepository()
  const control = { name: 'control.tar', body: tarOf([{ path: 'control', body: controlOf({}) }]) }
  const body = arOf([DEBIAN_BINARY, control, { name: 'data.tar.xz', body: Buffer.from('x') }])
  t.equal((await send('PUT', `${PLACE}/upload`, body)).status, 201)
  t.match((await get('/dists/bookworm/main/binary-amd64/Packages')).text, 'Package: hello-tool')
  t.equal((await get('/dists/bookworm/main/Contents-amd64')).status, 404)
})

t.test('a source package is listed after its files and its .dsc file are uploaded', async (t) => {
  const { get, publish, send } = await aRepository()
  const ask = (method: string, file: string, body?: Buffer) =>
    send(method, `${PLACE}/${file}`, body)
  const original = Buffer.from('original')
  const sha256 = createHash('sha256').update(original).digest('hex')
  const dscOf = (hash: string, name = 'hello_1.0.tar.gz') =>
    Buffer.from(
      `Format: 3.0 (native)\nSource: hello\nVersion: 1:1.0\n` +
        `Checksums-Sha256:\n ${hash} 8 ${name}\nFiles:\n x 8 ${name}\n`,
    )
  const missing = await ask('PUT', 'hello_1.0.dsc', dscOf(sha256))
  t.match(missing, { status: 400, text: /The file hello_1\.0\.tar\.gz .* is missing: upload it/ })
  t.equal((await ask('PUT', 'hello_1.0.tar.gz', original)).status, 201)
  t.equal((await get('/dists/bookworm/main/source/Sources')).status, 404)
  const other = await ask('PUT', 'hello_1.0.dsc', dscOf('0'.repeat(64)))
  t.match(other, { status: 400, text: /lists another hello_1\.0\.tar\.gz/ })
  const renamed = await ask('PUT', 'hello_2.0.dsc', dscOf(sha256))
  t.match(renamed, { status: 400, text: /must have the name hello_1\.0\.dsc/ })
  for (const name of ['hello_1.0_all.deb', 'hello.txt', 'x_1.0.txt']) {
    t.equal((await ask('PUT', name, original)).status, 400, name)
  }
  const dsc = dscOf(sha256)
  t.equal((await ask('PUT', 'hello_1.0.dsc', dsc)).status, 201)
  t.equal((await ask('PUT', 'hello_1.0.dsc', dsc)).status, 409)
  const sources = (await get('/dists/bookworm/main/source/Sources')).text
  t.match(
    sources,
    /^Package: hello\nFormat: 3\.0 \(native\)\nVersion: 1:1\.0\nDirectory: pool\/book/,
  )
  t.match(sources, `\n ${sha256} 8 hello_1.0.tar.gz\n`)
  t.match(
    sources,
    `\n ${createHash('sha256').update(dsc).digest('hex')} ${dsc.length} hello_1.0.dsc\n`,
  )
  const packed = await get('/dists/bookworm/main/source/Sources.gz')
  t.equal(gunzipSync(packed.bytes).toString(), sources)
  t.ok((await get(`${PLACE}/hello_1.0.dsc`)).bytes.equals(dsc), 'it is served as it was uploaded')
  t.ok((await get(`${PLACE}/hello_1.0.tar.gz`)).bytes.equals(original))
  await publish()
  const release = (await get('/dists/bookworm/Release')).text
  t.match(release, '\nArchitectures: amd64\n', 'source is not an architecture')
  t.match(release, / main\/source\/Sources\.gz\n/)
  t.equal((await ask('DELETE', 'hello_1.0.dsc')).status, 204)
  t.equal((await ask('DELETE', 'hello_1.0.dsc')).status, 404)
  t.equal((await get('/dists/bookworm/main/source/Sources')).status, 404)
})

t.test('each digest that Release lists is the name of a file in by-hash', async (t) => {
  const { get, publish } = await aRepository()
  await publish({ files: [{ path: './usr/bin/hello' }] })
  const release = (await get('/dists/bookworm/Release')).text
  const blocks = [...release.matchAll(/^(\w+):\n((?: [0-9a-f]+ \d+ \S+\n)+)/gm)]
  t.strictSame(
    blocks.map(([, name]) => name),
    ['SHA256', 'SHA512'],
  )
  for (const [, name = '', lines = ''] of blocks) {
    for (const [, digest = '', path = ''] of lines.matchAll(/^ (\S+) \d+ (\S+)$/gm)) {
      const folder = path.replace(/\/[^/]+$/, '')
      const found = await get(`/dists/bookworm/${folder}/by-hash/${name}/${digest}`)
      t.equal(found.status, 200, `${name} of ${path}`)
      t.ok(found.bytes.equals((await get(`/dists/bookworm/${path}`)).bytes), path)
    }
  }
})

t.test("the owner's key is served armored and binary", async (t) => {
  const ask = (path: string) => gateway.ask({ path })
  const armored = await ask('/api/packages/ada/debian/repository.key')
  t.match(armored, {
    status: 200,
    text: /^-----BEGIN PGP PUBLIC KEY BLOCK-----\n/,
    headers: {
      'content-type': 'application/pgp-keys',
      'content-disposition': 'attachment; filename="repository.key"',
    },
  })
  t.equal((await ask('/api/packages/ada/debian/repository.key')).text, armored.text)
  t.not((await ask('/api/packages/bob/debian/repository.key')).text, armored.text)
  const binary = await ask('/api/packages/ada/debian/repository.gpg')
  t.ok(armored.text.replaceAll('\n', '').includes(binary.bytes.toString('base64').slice(0, 100)))
  t.notMatch(armored.text, /PRIVATE/)
})

t.test('files have their content types, and indexes can be revalidated', async (t) => {
  const { get, publish } = await aRepository()
  await publish()
  t.match(await get(`${PLACE}/hello-tool_1.0_amd64.deb`), {
    headers: {
      'content-type': 'application/vnd.debian.binary-package',
      'content-disposition': /filename="hello-tool_1.0_amd64.deb"/,
    },
  })
  const release = await get('/dists/bookworm/InRelease')
  const { etag = '' } = release.headers
  t.match(release.headers, { 'content-type': 'application/octet-stream' })
  const again = await get('/dists/bookworm/InRelease', { 'if-none-match': etag })
  t.equal(again.status, 304)
  for (const path of [
    `${PLACE}/hello-tool_1.0_arm64.deb`,
    `${PLACE}/hello-tool_1.0.deb`,
    `${PLACE}/hello-tool`,
    '/dists/bookworm/Packages',
    '/dists/bookworm/main%2fbinary-amd64%2fPackages',
    '/dists/bookworm/main/binary-amd64/Packages.bz2',
    '/dists/bookworm/main/binary-amd64/Release',
    '/dists/bookworm/main/binary-amd64%2f../Packages',
    '/dists/../Release',
    '/dists/Bookworm%00/Release',
  ]) {
    t.equal((await get(path)).status, 404, path)
  }
})
