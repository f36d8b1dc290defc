/** Alpine packages: conformance of the format, and indexes that apk reads and verifies. */

import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { t as root, type Test } from 'tap'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import {
  apk,
  controlMember,
  type PackageLines,
  readIndex,
  splitMembers,
} from '../../helpers/apks.js'
import { isExpected } from '../../helpers/expected.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'
import { pmbBlocks } from '../../helpers/pmbootstrap.js'
import type { Answer, RequestOptions } from '../../helpers/requests.js'

const PLACE = '/v3.20/main'

function put(body: Buffer, place = PLACE): FormatRequest {
  return { method: 'PUT', path: place, body }
}

const SUBJECT: FormatSubject = {
  format: 'alpine',
  publish: async (pkgver, content) => put(apk({ pkgver }, { content })),
  version: (index) => `1.${index}-r0`,
  file: (version) => `${PLACE}/x86_64/hello-${version}.apk`,
  list: {
    path: `${PLACE}/x86_64/APKINDEX.tar.gz`,
    holds: ({ bytes }, version) => gunzipSync(bytes).toString().includes(`\nV:${version}\n`),
  },
  remove: (version) => ({ method: 'DELETE', path: `${PLACE}/x86_64/hello-${version}.apk` }),
  hostile: async () => ({
    'an empty body': put(Buffer.alloc(0)),
    'no gzip': put(Buffer.from('hello')),
    'gzip data that is not a tar archive': put(gzipSync('hello')),
    'a truncated package': put(apk().subarray(0, -1)),
    'a package without .PKGINFO': put(splitMembers(apk())[0] ?? Buffer.alloc(0)),
    'a bomb': put(await gzipBomb({ head: '', piece: '\0'.repeat(65_536), bytes: 1 << 24 })),
    'no name': put(apk({ pkgname: '' })),
    'a name that leads out of the folder': put(apk({ pkgname: '../hello' })),
    'a name with a backslash': put(controlMember('pkgname = a\\nP:evil\npkgver = 1\narch = x\n')),
    'a name that is too long': put(apk({ pkgname: 'n'.repeat(256) })),
    'no version': put(apk({ pkgver: '' })),
    'a version that apk does not know': put(apk({ pkgver: 'v1.0' })),
    'a version with a slash': put(apk({ pkgver: '1.0/2.0' })),
    'no architecture': put(apk({ arch: '' })),
    'an architecture with a slash': put(apk({ arch: '../x86' })),
    'an architecture in capitals': put(apk({ arch: 'X86' })),
    'two names': put(apk({ pkgname: ['a', 'b'] })),
    'a description with a carriage return': put(apk({ pkgdesc: 'a\rP:evil' })),
    'a description with NUL': put(apk({ pkgdesc: 'a\0' })),
    'a maintainer with an escape': put(apk({ maintainer: '\x1b[31m' })),
    'more dependencies than allowed': put(apk({ depend: 'a '.repeat(1_025) })),
    'a branch with a slash': put(apk(), '/v3%2F20/main'),
    'a branch that leads out of the folder': put(apk(), '/../main'),
    'a branch with a bar': put(apk(), '/v3%7Cx/main'),
    'a repository with a line feed': put(apk(), '/v3.20/ma%0Ain'),
    'a repository that is blank': put(apk(), '/v3.20/%20'),
  }),
}

await testFormat(t, SUBJECT)

let opened: Promise<GatewayWithUsers> | undefined

/**
 * Sends a request to one gateway for all tests, because its key takes long; each test uses its own
 * branch.
 */
async function ask(question: RequestOptions): Promise<Answer> {
  opened ??= startGatewayWithUsers(root)
  const { ask, authorizationOf } = await opened
  const { method = 'GET' } = question
  const isRead = method === 'GET' || method === 'HEAD'
  const authorization = isRead ? undefined : authorizationOf('ada')
  return await ask({ ...question, path: `/api/packages/ada/alpine${question.path}`, authorization })
}

async function publish(place: string, ...all: readonly (PackageLines | Buffer)[]) {
  const statuses: number[] = []
  for (const one of all) {
    const body = Buffer.isBuffer(one) ? one : apk(one)
    statuses.push((await ask({ method: 'PUT', path: place, body })).status)
  }
  return statuses
}

const get = (path: string) => ask({ path })
const remove = (path: string) => ask({ method: 'DELETE', path })

/** Records of a verified index; undefined if there is no index. */
async function recordsOf(t: Test, place: string): Promise<readonly string[] | undefined> {
  const answer = await get(`${place}/APKINDEX.tar.gz`)
  if (answer.status === 404) return undefined
  const index = await readIndex(t, answer.bytes)
  const { text: publicKey, headers } = await get('/key')
  const [, name] = /^attachment; filename="(.+)"$/.exec(headers['content-disposition'] ?? '') ?? []
  t.equal(index.signatureName, `.SIGN.RSA.${name}`, 'the key is found by its name')
  t.ok(await index.isSignedBy(publicKey), 'openssl verifies the signature')
  const blocks = await pmbBlocks(t, answer.bytes)
  t.equal(blocks.length, index.text.split('\n\n').length - 1, 'pmbootstrap reads all records')
  return blocks.map(({ pkgname, version, arch }) => `${pkgname} ${version} ${arch}`)
}

t.test('the APKINDEX equals the reviewed file', async (t) => {
  const lines = {
    pkgname: 'hello-tool',
    pkgver: '2.1.0-r4',
    pkgdesc: 'Says hellö',
    license: 'MIT',
    url: 'https://example.test/hello',
    size: '8192',
    origin: 'hello',
    commit: 'c0ffee',
    maintainer: 'Ada Example <ada@example.test>',
    builddate: '1750000000',
    depend: ['so:libc.musl-x86_64.so.1', '!goodbye'],
    provides: 'cmd:hello=2.1.0-r4',
    install_if: 'a b',
    provider_priority: '10',
    replaces: 'old-hello',
  }
  const few = { pkgname: 'few', arch: 'noarch' }
  t.strictSame(await publish('/expected/main', lines, few), [201, 201])
  const { bytes } = await get('/expected/main/x86_64/APKINDEX.tar.gz')
  const { text } = await readIndex(t, bytes)
  isExpected(t, text.split('\n'), 'alpine/apkindex')
  const [, seen] = await pmbBlocks(t, bytes)
  t.strictSame(seen, {
    pkgname: 'hello-tool',
    version: '2.1.0-r4',
    arch: 'x86_64',
    origin: 'hello',
    timestamp: '1750000000',
    provider_priority: '10',
    depends: ['so:libc.musl-x86_64.so.1', '!goodbye'],
    provides: ['cmd:hello'],
  })
})

t.test('the key is downloaded under the name that signatures use', async (t) => {
  const key = await get('/key')
  t.match(key, { status: 200, headers: { 'content-type': 'application/x-pem-file' } })
  t.match(key.headers['content-disposition'], /^attachment; filename="ada-[0-9a-f]{16}\.rsa\.pub"$/)
  t.match(key.text, /^-----BEGIN PUBLIC KEY-----\n[^-]+-----END PUBLIC KEY-----\n$/)
  t.equal((await get('/key')).text, key.text)
  const head = await ask({ method: 'HEAD', path: '/key' })
  t.match(head, { status: 200, headers: { 'content-disposition': /^attachment/ } })
})

t.test('a noarch package is in the index of every architecture', async (t) => {
  const tool = { pkgname: 'tool', arch: 'noarch' }
  t.strictSame(await publish('/noarch/main', tool), [201])
  for (const arch of ['x86_64', 'aarch64', 'noarch']) {
    t.strictSame(await recordsOf(t, `/noarch/main/${arch}`), [`tool 1.0-r0 ${arch}`], arch)
  }
  const strange = await recordsOf(t, '/noarch/main/my_arch')
  t.strictSame(strange, ['tool 1.0-r0 noarch'], 'also in that of an unknown architecture')
  t.equal((await get('/noarch/main/MY-ARCH/APKINDEX.tar.gz')).status, 404)
  for (const arch of ['x86_64', 'my_arch', 'noarch']) {
    const file = await get(`/noarch/main/${arch}/tool-1.0-r0.apk`)
    t.strictSame([file.status, file.bytes], [200, apk(tool)], arch)
  }
  const own = apk({ pkgname: 'tool' })
  t.strictSame(await publish('/noarch/main', own, { pkgname: 'x', arch: 'my_arch' }), [201, 201])
  t.strictSame(
    (await get('/noarch/main/x86_64/tool-1.0-r0.apk')).bytes,
    own,
    'the file of the architecture itself takes precedence',
  )
  t.strictSame(await recordsOf(t, '/noarch/main/x86_64'), ['tool 1.0-r0 x86_64'])
  const both = ['tool 1.0-r0 my_arch', 'x 1.0-r0 my_arch']
  t.strictSame(await recordsOf(t, '/noarch/main/my_arch'), both)
  t.equal((await remove('/noarch/main/x86_64/tool-1.0-r0.apk')).status, 204)
  t.strictSame((await get('/noarch/main/x86_64/tool-1.0-r0.apk')).bytes, apk(tool))
})

t.test('branches and repositories are independent', async (t) => {
  const places = ['/apart/main', '/apart/extra', '/Apart/main']
  for (const place of places) {
    t.strictSame(await publish(place, {}), [201], place)
    t.strictSame(await publish(place, {}), [409], place)
    t.strictSame(await recordsOf(t, `${place}/x86_64`), ['hello 1.0-r0 x86_64'], place)
  }
  t.equal((await remove('/apart/main/x86_64/hello-1.0-r0.apk')).status, 204)
  t.equal(await recordsOf(t, '/apart/main/x86_64'), undefined)
  for (const place of places.slice(1)) {
    t.strictSame(await recordsOf(t, `${place}/x86_64`), ['hello 1.0-r0 x86_64'], place)
    t.equal((await get(`${place}/x86_64/hello-1.0-r0.apk`)).status, 200, place)
  }
  t.equal((await get('/apart/other/x86_64/APKINDEX.tar.gz')).status, 404)
})

t.test('a deleted package is in no index', async (t) => {
  const versions = ['1.9-r0', '1.10-r0', '1.10_rc1-r0'].map((pkgver) => ({ pkgver }))
  t.strictSame(await publish('/gone/main', ...versions), [201, 201, 201])
  t.equal((await remove('/gone/main/x86_64/hello-1.10-r0.apk')).status, 204)
  const left = ['hello 1.10_rc1-r0 x86_64', 'hello 1.9-r0 x86_64']
  t.strictSame(await recordsOf(t, '/gone/main/x86_64'), left)
  t.equal((await remove('/gone/main/x86_64/hello-1.10-r0.apk')).status, 404)
  t.equal(
    (await remove('/gone/main/armv7/hello-1.9-r0.apk')).status,
    404,
    'the package has another architecture',
  )
  t.equal((await remove('/gone/main/x86_64/hello.apk')).status, 404)
})

t.test('a package can be deleted without naming its architecture', async (t) => {
  const other = { pkgname: 'hello', arch: 'armv7' }
  t.strictSame(await publish('/short/main', {}, other), [201, 201])
  t.strictSame(await publish('/short/extra', {}), [201])
  const refused = await remove('/short/main/hello-1.0-r0.apk')
  t.match(refused, { status: 400, text: /for several architectures \(x86_64, armv7\): put/ })
  t.equal((await remove('/short/main/armv7/hello-1.0-r0.apk')).status, 204)
  t.equal((await remove('/short/main/hello-1.0-r0.apk')).status, 204)
  t.equal((await remove('/short/main/hello-1.0-r0.apk')).status, 404)
  t.equal((await remove('/short/main/hello.apk')).status, 404)
  t.equal((await remove('/short/main/nobody-1.0-r0.apk')).status, 404)
  t.equal(
    (await get('/short/extra/x86_64/hello-1.0-r0.apk')).status,
    200,
    'the package of another repository is kept',
  )
})

t.test('a package name that differs only in case is refused', async (t) => {
  t.strictSame(await publish('/case/main', { pkgname: 'cased' }), [201])
  t.strictSame(await publish('/case/main', { pkgname: 'Cased', pkgver: '2' }), [409])
})

t.test('an index has an ETag, a date and a content type', async (t) => {
  t.strictSame(await publish('/etag/main', {}), [201])
  const path = '/etag/main/x86_64/APKINDEX.tar.gz'
  const whole = await get(path)
  const { etag = '' } = whole.headers
  t.equal(etag, `"${createHash('sha256').update(whole.bytes).digest('hex')}"`)
  const again = await ask({ path, headers: { 'if-none-match': etag } })
  t.equal(again.status, 304)
  const head = await ask({ method: 'HEAD', path })
  const length = String(whole.bytes.length)
  t.match(head, { status: 200, text: '', headers: { etag, 'content-length': length } })
  t.strictSame(await publish('/etag/main', { pkgver: '2' }), [201])
  t.not((await get(path)).headers.etag, etag)
})

t.test('a package with a control member only is accepted', async (t) => {
  const small = controlMember('pkgname=small\npkgver=1\narch=x86\n')
  t.strictSame(await publish('/small/main', small), [201])
  t.strictSame(await recordsOf(t, '/small/main/x86'), ['small 1 x86'])
  const { bytes } = await get('/small/main/x86/small-1.apk')
  t.strictSame(bytes, small)
})
