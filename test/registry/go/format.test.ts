/** Go modules: conformance of the format, and the paths of a module proxy. */

import t from 'tap'
import {
  type FormatRequest,
  type FormatSubject,
  testFormat,
} from '../../conformance/package-format.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { moduleZip } from '../../helpers/modules.js'
import { addPackageOwner, type PackageOwner } from '../../helpers/package-owners.js'
import { handMadeZip, zipOf } from '../../helpers/zips.js'

function put(body: Buffer): FormatRequest {
  return { method: 'PUT', path: '/upload', body }
}

const SUBJECT: FormatSubject = {
  format: 'go',
  publish: async (version, salt) =>
    put(await moduleZip(`x.y/tool@${version}`, { 'tool.go': `package tool // ${salt}\n` })),
  version: (index) => `v1.${index}.0`,
  file: (version) => `/x.y/tool/@v/${version}.zip`,
  list: {
    path: '/x.y/tool/@v/list',
    holds: ({ text }, version) => text.split('\n').includes(version),
  },
  hostile: async () => ({
    'no zip': put(Buffer.from('hello')),
    nothing: put(Buffer.alloc(0)),
    'a zip without a module': put(await zipOf({ 'go.mod': 'module x.y/tool\n' })),
    'a zip of two modules': put(await zipOf({ 'x.y/a@v1.0.0/a': '', 'x.y/b@v1.0.0/b': '' })),
    'a name with a line feed': put(await moduleZip('x.y/to\nol@v1.0.0')),
    'a version with a line feed': put(await moduleZip('x.y/tool@v1.0.0\nv1.1.0')),
    'a version that is short': put(await moduleZip('x.y/tool@v1')),
    'a version of another major': put(await moduleZip('x.y/tool@v2.0.0')),
    'a path that leads out': put(handMadeZip([{ path: 'x.y/tool@v1.0.0/../../etc/passwd' }])),
    'a go.mod of another module': put(
      await moduleZip('x.y/tool@v1.0.0', { 'go.mod': 'module x.y/other\n' }),
    ),
    'two files that differ by case': put(await moduleZip('x.y/tool@v1.0.0', { a: '', A: '' })),
    'a file that is not as declared': put(
      handMadeZip([{ path: 'x.y/tool@v1.0.0/a', content: 'x', both: { crc32: 1 } }]),
    ),
    'a path that is too long': put(await moduleZip(`x.y/${'n'.repeat(255)}@v1.0.0`)),
  }),
}

await testFormat(t, SUBJECT)

const gateway = await startGatewayWithUsers(t)
const aProxy = () => addPackageOwner(gateway, 'go')

/** Publishes modules as the owner. */
async function publish(
  proxy: PackageOwner,
  ...zips: readonly Buffer[]
): Promise<readonly number[]> {
  const { authorization } = proxy
  const statuses: number[] = []
  for (const body of zips) {
    const path = `${proxy.base}/upload`
    statuses.push((await proxy.ask({ method: 'PUT', path, body, authorization })).status)
  }
  return statuses
}

t.test('a module is served as the GOPROXY protocol says', async (t) => {
  const proxy = await aProxy()
  const goMod = 'module x.y/tool // a tool\n\ngo 1.19\n'
  const before = Date.now()
  await publish(proxy, await moduleZip('x.y/tool@v1.2.0', { 'go.mod': goMod }))
  await publish(proxy, await moduleZip('x.y/tool@v1.10.0'))
  await publish(proxy, await moduleZip('x.y/tool@v1.9.0'))
  const get = (path: string, method = 'GET') =>
    proxy.ask({ method, path: `${proxy.base}/x.y/tool/${path}` })
  const text = { 'content-type': 'text/plain;charset=utf-8' }
  t.match(await get('@v/list'), { text: 'v1.2.0\nv1.9.0\nv1.10.0\n', headers: text })
  t.match(await get('@v/v1.2.0.mod'), { text: goMod, headers: text })
  const info = await get('@v/v1.2.0.info')
  t.equal(info.headers['content-type'], 'application/json;charset=utf-8')
  const { Version, Time, ...rest } = JSON.parse(info.text)
  t.strictSame([Version, rest], ['v1.2.0', {}])
  t.match(Time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/)
  t.ok(Date.parse(Time) >= before - 2_000 && Date.parse(Time) <= Date.now() + 2_000)
  const disposition = /^attachment; filename="v1\.2\.0\.zip"/
  t.match((await get('@v/v1.2.0.zip')).headers, { 'content-disposition': disposition })
  t.equal((await get('@v/v1.2.0.mod', 'HEAD')).status, 200)
  for (const document of ['@v/list', '@v/v1.2.0.mod', '@v/v1.2.0.info', '@latest']) {
    const { etag = '', 'cache-control': cacheControl } = (await get(document)).headers
    t.equal(cacheControl, 'private, no-cache', document)
    const path = `${proxy.base}/x.y/tool/${document}`
    const again = await proxy.ask({ path, headers: { 'if-none-match': etag } })
    t.equal(again.status, 304, document)
  }
  const latest = await get('@latest')
  t.equal(JSON.parse(latest.text).Version, 'v1.10.0', 'by version, not by time of upload')
  t.equal((await get('@v/latest.info')).text, latest.text)
  t.equal((await get('@v/latest.mod')).text, 'module x.y/tool\n')
  t.strictSame((await get('@v/latest.zip')).bytes, (await get('@v/v1.10.0.zip')).bytes)
})

t.test('a module without go.mod gets one with its name', async (t) => {
  const proxy = await aProxy()
  const names = ['x.y/old@v1.0.0', 'x.y/old@v2.0.0+incompatible']
  for (const name of names) {
    t.strictSame(await publish(proxy, await zipOf({ [`${name}/old.go`]: 'package old\n' })), [201])
  }
  const get = async (path: string) =>
    (await proxy.ask({ path: `${proxy.base}/x.y/old/${path}` })).text
  t.equal(await get('@v/v1.0.0.mod'), 'module x.y/old\n')
  t.equal(await get('@v/v2.0.0+incompatible.mod'), 'module x.y/old\n')
  t.equal(await get('@v/v2.0.0%2Bincompatible.mod'), 'module x.y/old\n')
  t.equal(JSON.parse(await get('@latest')).Version, 'v2.0.0+incompatible')
  await publish(proxy, await moduleZip('x.y/old@v1.1.0'))
  t.equal(JSON.parse(await get('@latest')).Version, 'v1.1.0')
})

t.test('capitals are escaped with an exclamation mark and distinguish modules', async (t) => {
  const proxy = await aProxy()
  t.strictSame(await publish(proxy, await moduleZip('x.y/Org/Lib@v1.0.0-RC1')), [201])
  const get = (path: string) => proxy.ask({ path: `${proxy.base}/${path}` })
  t.match(await get('x.y/!org/!lib/@v/list'), { status: 200, text: 'v1.0.0-RC1\n' })
  t.match(await get('x.y/%21org/%21lib/@v/list'), { status: 200, text: 'v1.0.0-RC1\n' })
  t.equal((await get('x.y/%21org/%21lib/@v/v1.0.0-%21r%21c1.info')).status, 200)
  const others = [
    'x.y/Org/Lib/@v/list',
    'x.y/org/lib/@v/list',
    'x.y/!org/lib/@v/list',
    'x.y/!Org/!lib/@v/list',
    'x.y/!!org/!lib/@v/list',
    'x.y/!org/!lib!/@v/list',
    'x.y/!org/!lib/@v/v1.0.0-rc1.info',
    'x.y/!org/!lib/@v/v1.0.0-RC1.info',
    'x.y/!org/!lib/@v/v1.0.0-!rc1.zip',
  ]
  for (const path of others) t.equal((await get(path)).status, 404, path)
  t.strictSame(await publish(proxy, await moduleZip('x.y/org/lib@v2.0.0-0')), [400])
  t.strictSame(await publish(proxy, await moduleZip('x.y/org/lib@v1.1.0')), [409])
  t.strictSame(await publish(proxy, await moduleZip('x.y/Org/Lib@v1.0.0-rc1')), [409])
})

t.test('a missing module is 404 as text, so that the next proxy is used', async (t) => {
  const proxy = await aProxy()
  await publish(proxy, await moduleZip('x.y/tool@v1.0.0'))
  const paths = [
    'x.y/@v/list',
    'x.y/tool/sub/@v/list',
    'x.y/tool/@v/v1.0.1.info',
    'x.y/tool/@v/v1.0.0.exe',
    'x.y/tool/@v/master.info',
    'x.y/tool/@v/v1.info',
    'x.y/tool/@v/',
    'x.y/tool/@v',
    'x.y/tool',
    'x.y/tool/@latest/',
    'x.y/tool@latest',
    'x.y/other/@latest',
    '@latest',
    '@v/list',
    'x.y%2Ftool/@v/list',
    'x.y/tool/@v%2Flist',
    'x.y/tool/@v/..%2Flist',
    'x.y//tool/@v/list',
    'sumdb/sum.golang.org/supported',
    'x.y/tool/@v/v1.0.0.zip.zip',
    'x.y/tool/%40v/../@v/list',
    'x.y/../x.y/tool/@v/list',
    'x.y/tool/@v/latest',
    'x.y/tool/@v/.info',
    '',
  ]
  for (const path of paths) {
    const answer = await proxy.ask({ path: `${proxy.base}/${path}` })
    t.equal(answer.status, 404, path)
    t.match(answer.headers['content-type'], /^text\/plain; ?charset=utf-8$/, path)
  }
  t.equal((await proxy.ask({ path: `${proxy.base}/upload` })).status, 405)
  t.equal((await proxy.ask({ path: `${proxy.base}/x.y/tool/%40v/list` })).status, 200)
  t.equal((await proxy.ask({ path: `${proxy.base}/x.y/%zz/@v/list` })).status, 400)
})

t.test(
  'pseudo-versions are not listed, and are the latest only without other versions',
  async (t) => {
    const proxy = await aProxy()
    const get = (path: string) => proxy.ask({ path: `${proxy.base}/x.y/tool/${path}` })
    const [old, young] = [
      'v0.0.0-20200102030405-abcdef123456',
      'v0.0.0-20210102030405-012345abcdef',
    ]
    await publish(proxy, await moduleZip(`x.y/tool@${young}`), await moduleZip(`x.y/tool@${old}`))
    t.match(await get('@v/list'), { status: 200, text: '' })
    t.equal(JSON.parse((await get('@latest')).text).Version, young)
    t.equal(JSON.parse((await get(`@v/${old}.info`)).text).Version, old)
    await publish(proxy, await moduleZip('x.y/tool@v0.1.0-rc.1'))
    t.match(await get('@v/list'), { status: 200, text: 'v0.1.0-rc.1\n' })
    t.equal(JSON.parse((await get('@latest')).text).Version, 'v0.1.0-rc.1')
  },
)
