/** Swift Package Registry Service specification, section by section, over HTTP. */

import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { BASE_URL } from '../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { forEachPackageGateway, onPackageGateway } from '../helpers/package-gateways.js'
import { sharedS3Server } from '../helpers/shared-s3-server.js'
import { JSON_V1, type SwiftPart, sourceArchive, swiftForm } from '../helpers/swift.js'

const BASE = '/api/packages/ada/swift'
const BASE64 = 'Content-Transfer-Encoding: base64'

async function publish(gateway: GatewayWithUsers, path: string, ...more: readonly SwiftPart[]) {
  const parts: SwiftPart[] = [['source-archive', await sourceArchive()], ...more]
  return await send(gateway, path, parts)
}

async function send(
  gateway: GatewayWithUsers,
  path: string,
  parts: readonly SwiftPart[],
  headers?: Readonly<Record<string, string>>,
) {
  const authorization = gateway.authorizationOf('ada')
  return await gateway.ask({ ...swiftForm(`${BASE}${path}`, parts, headers), authorization })
}

function get(
  gateway: GatewayWithUsers,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  return gateway.ask({ path: `${BASE}${path}`, headers })
}

/** Checks that an error reply is a problem document (section 3.3). */
function isProblem(t: Test, answer: Awaited<ReturnType<typeof get>>, status: number): void {
  t.match(answer, {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'content-version': '1',
      'content-language': 'en',
    },
  })
  const problem = JSON.parse(answer.text)
  t.match(problem, { status, title: /^[A-Z]/, detail: /\w/ })
  t.strictSame(Object.keys(problem), ['status', 'title', 'detail'])
}

// Both databases are tested because each sorts versions itself.
await forEachPackageGateway(
  t,
  '4.1: releases are listed with links, highest version first',
  async (t, gateway) => {
    const hello = `${BASE_URL}${BASE}/listed/Hello`
    isProblem(t, await get(gateway, '/listed/Hello'), 404)
    for (const version of ['1.9.0', '1.10.0', '2.0.0-beta.1', '1.0.0+build.7']) {
      t.match(await publish(gateway, `/listed/Hello/${version}`), {
        status: 201,
        headers: { 'content-version': '1', location: `${hello}/${version}` },
      })
    }
    const listed = await get(gateway, '/listed/Hello', { accept: JSON_V1 })
    t.match(listed, {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'content-version': '1',
        link: `<${hello}/2.0.0-beta.1>; rel="latest-version"`,
      },
    })
    const sorted = ['2.0.0-beta.1', '1.10.0', '1.9.0', '1.0.0+build.7']
    const releases = sorted.map((version) => [version, { url: `${hello}/${version}` }])
    t.equal(listed.text, JSON.stringify({ releases: Object.fromEntries(releases) }))
    const { etag = '' } = listed.headers
    for (const path of ['/listed/Hello.json', '/LISTED/hello', '/LISTED/hello.JSON']) {
      t.equal((await get(gateway, path)).text, listed.text, path)
      t.equal((await get(gateway, path, { 'if-none-match': etag })).status, 304, path)
    }
    t.equal((await publish(gateway, '/listed/Hello/2.0.0')).status, 201)
    t.match((await get(gateway, '/listed/Hello')).headers, {
      link: `<${hello}/2.0.0>; rel="latest-version"`,
    })
  },
)

await onPackageGateway(
  t,
  'MariaDB and S3',
  '4.2: a release is returned with its archive, its time and links to other releases',
  async (t, gateway) => {
    const hello = `${BASE_URL}${BASE}/shown/Hello`
    const metadata = {
      author: { givenName: 'Ada', familyName: 'B', organization: { name: 'Guild' } },
      description: 'Hällo.',
      repositoryURLs: ['https://git.test/ada/Shown', 'git@git.test:ada/Shown-mirror.git'],
    }
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
      await publish(gateway, `/shown/Hello/${version}`, ['metadata', JSON.stringify(metadata)])
    }
    const shown = await get(gateway, '/shown/Hello/1.1.0', { accept: JSON_V1 })
    const link = ['latest', 'successor', 'predecessor'].map((rel, at) => {
      return `<${hello}/${['2.0.0', '2.0.0', '1.0.0'][at]}>; rel="${rel}-version"`
    })
    t.match(shown, {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'content-version': '1',
        link: link.join(', '),
      },
    })
    const { publishedAt, ...rest } = shown.json as { readonly publishedAt: string }
    t.ok(Math.abs(Date.now() - Date.parse(publishedAt)) < 600_000)
    t.match(publishedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const checksum = createHash('sha256')
      .update(await sourceArchive())
      .digest('hex')
    t.strictSame(rest, {
      id: 'shown.Hello',
      version: '1.1.0',
      resources: [{ name: 'source-archive', type: 'application/zip', checksum }],
      metadata: {
        '@context': ['http://schema.org/'],
        '@type': 'SoftwareSourceCode',
        name: 'Hello',
        version: '1.1.0',
        description: metadata.description,
        repositoryURLs: metadata.repositoryURLs,
        author: {
          '@type': 'Person',
          name: 'Ada B',
          givenName: 'Ada',
          familyName: 'B',
          organization: { '@type': 'Organization', name: 'Guild' },
        },
        programmingLanguage: {
          '@type': 'ComputerLanguage',
          name: 'Swift',
          url: 'https://swift.org',
        },
      },
    })
    t.equal((await get(gateway, '/SHOWN/HELLO/1.1.0.json')).text, shown.text)
    const listed = await get(gateway, '/shown/Hello')
    const repositories = metadata.repositoryURLs.map((url, at) => {
      return `<${url}>; rel="${at === 0 ? 'canonical' : 'alternate'}"`
    })
    t.match(listed.headers, { link: [...repositories, link[0]].join(', ') })
    for (const path of [
      '/shown/Hello/3.0.0',
      '/shown/Hello/x',
      '/shown/Other/1.0.0',
      '/a.c/Hello/1.0.0',
    ]) {
      isProblem(t, await get(gateway, path), 404)
    }
  },
)

await onPackageGateway(
  t,
  'MariaDB and S3',
  '3.5: every reply has the version of the API',
  async (t, gateway) => {
    await publish(gateway, '/replies/Hello/1.0.0')
    const { etag = '' } = (await get(gateway, '/replies/Hello')).headers
    const zip = '/replies/Hello/1.0.0.zip'
    const replies: readonly (readonly [number, string, string, Record<string, string>?])[] = [
      [200, 'GET', '/replies/Hello'],
      [200, 'HEAD', '/replies/Hello'],
      [304, 'GET', '/replies/Hello', { 'if-none-match': etag }],
      [200, 'HEAD', '/replies/Hello/1.0.0'],
      [200, 'GET', zip],
      [200, 'HEAD', zip],
      [206, 'GET', zip, { range: 'bytes=0-1' }],
      [416, 'GET', zip, { range: 'bytes=999999-' }],
      [303, 'GET', '/replies/Hello/1.0.0/Package.swift?swift-version=4'],
      [200, 'HEAD', '/replies/Hello/1.0.0/Package.swift'],
      [400, 'GET', '/identifiers'],
      [401, 'PUT', '/replies/Hello/1.1.0'],
      [401, 'POST', '/login'],
      [404, 'GET', '/replies/Hello/9.9.9'],
      [404, 'GET', '/replies/Hello/1.0.0/Package.swift/more'],
      [404, 'HEAD', '/availability/of/much/else'],
      [405, 'DELETE', '/replies/Hello/1.0.0'],
      [400, 'GET', '/replies/Hello', { accept: 'application/vnd.swift.registry.v9+json' }],
    ]
    for (const [status, method, path, headers = {}] of replies) {
      const answer = await gateway.ask({ method, path: `${BASE}${path}`, headers })
      const place = `${method} ${path}`
      t.equal(answer.status, status, place)
      t.equal(answer.headers['content-version'], '1', place)
    }
  },
)

t.test('3.5: a redirect to the bucket has the version of the API', async (t) => {
  const environment = {
    GATEHOUSE_BLOBS_URL: await (await sharedS3Server()).createBucket(),
    GATEHOUSE_BLOBS_REDIRECT: 'true',
  }
  const gateway = await startGatewayWithUsers(t, { environment })
  await publish(gateway, '/redirected/Hello/1.0.0')
  for (const method of ['GET', 'HEAD']) {
    const answer = await gateway.ask({ method, path: `${BASE}/redirected/Hello/1.0.0.zip` })
    t.match(answer, { status: 303, headers: { 'content-version': '1', location: /bucket-/ } })
  }
})

await onPackageGateway(
  t,
  'SQLite and files',
  '4.3: a manifest is returned with links to those for other Swift versions',
  async (t, gateway) => {
    const hello = `${BASE_URL}${BASE}/manifests/Hello`
    const manifests = {
      'Package@swift-4.swift': '// swift-tools-version:4.0\n',
      'Package@swift-5.6.swift': '// swift-tools-version: 5.6.1\n',
    }
    const main = '// swift-tools-version:5.9\nlet a = "ä"\n'
    await send(gateway, '/manifests/Hello/1.0.0', [
      ['source-archive', await sourceArchive(manifests, main)],
    ])
    const accept = 'application/vnd.swift.registry.v1+swift'
    const url = '/manifests/Hello/1.0.0/Package.swift'
    const ask = (query = '') => get(gateway, `${url}${query}`, { accept })
    const links = [
      `<${hello}/1.0.0/Package.swift?swift-version=4>; rel="alternate"; ` +
        'filename="Package@swift-4.swift"; swift-tools-version="4.0"',
      `<${hello}/1.0.0/Package.swift?swift-version=5.6>; rel="alternate"; ` +
        'filename="Package@swift-5.6.swift"; swift-tools-version="5.6.1"',
    ]
    t.match(await ask(), {
      status: 200,
      text: main,
      headers: {
        'content-type': 'text/x-swift',
        'content-version': '1',
        'content-length': String(Buffer.byteLength(main)),
        'content-disposition': 'attachment; filename="Package.swift"',
        link: links.join(', '),
      },
    })
    for (const version of ['5.6', '5.6.0']) {
      const found = await ask(`?swift-version=${version}`)
      t.match(found, {
        status: 200,
        text: manifests['Package@swift-5.6.swift'],
        headers: { 'content-disposition': 'attachment; filename="Package@swift-5.6.swift"' },
      })
      t.notOk(found.headers['link'])
    }
    t.match(await ask('?swift-version=4.0.0'), { text: manifests['Package@swift-4.swift'] })
    t.match(await ask('?swift-version=5.7'), {
      status: 303,
      text: '',
      headers: { 'content-version': '1', location: `${hello}/1.0.0/Package.swift` },
    })
    isProblem(t, await get(gateway, '/manifests/Hello/2.0.0/Package.swift'), 404)
  },
)

await onPackageGateway(
  t,
  'MariaDB and S3',
  '4.4: the archive is returned with its digest and its signature',
  async (t, gateway) => {
    const archive = await sourceArchive({ 'a.txt': 'a' })
    const signatures: SwiftPart[] = [
      ['source-archive-signature', Buffer.from([0, 255, 1])],
      ['metadata', '{}'],
      ['metadata-signature', 'Ym9i', BASE64],
    ]
    const format = { 'x-swift-package-signature-format': 'cms-1.0.0' }
    const parts: SwiftPart[] = [['source-archive', archive], ...signatures]
    t.equal((await send(gateway, '/archives/Hello/1.0.0', parts, format)).status, 201)
    await send(gateway, '/archives/Hello/1.0.1', [['source-archive', archive]])
    const encoded: SwiftPart = ['source-archive-signature', 'AP8B\r\n', BASE64]
    await send(gateway, '/archives/Hello/1.0.2', [['source-archive', archive], encoded], format)
    const accept = 'application/vnd.swift.registry.v1+zip'
    const digest = createHash('sha256').update(archive).digest('base64')
    const headers = {
      'content-type': 'application/zip',
      'content-version': '1',
      'content-length': String(archive.length),
      'content-disposition': /^attachment; filename="Hello-1\.0\.0\.zip"/,
      digest: `sha-256=${digest}`,
      'x-swift-package-signature-format': 'cms-1.0.0',
      'x-swift-package-signature': Buffer.from([0, 255, 1]).toString('base64'),
    }
    const whole = await get(gateway, '/archives/Hello/1.0.0.zip', { accept })
    t.match(whole, { status: 200, headers })
    t.ok(whole.bytes.equals(archive))
    const path = `${BASE}/archives/hello/1.0.0.ZIP`
    t.match(await gateway.ask({ method: 'HEAD', path }), { status: 200, text: '', headers })
    const unsigned = await get(gateway, '/archives/Hello/1.0.1.zip')
    t.match(unsigned, { status: 200 })
    t.notOk(unsigned.headers['x-swift-package-signature'])
    const signing = { signatureFormat: 'cms-1.0.0', signatureBase64Encoded: 'AP8B' }
    for (const version of ['1.0.0', '1.0.2']) {
      const { json } = await get(gateway, `/archives/Hello/${version}`)
      t.match(json, { resources: [{ signing }] }, version)
    }
    isProblem(t, await get(gateway, '/archives/Hello/1.0.3.zip'), 404)
  },
)

// Both databases are tested because each searches URLs itself.
await forEachPackageGateway(
  t,
  '4.5: a package is found by each notation of its repository URL',
  async (t, gateway) => {
    const repositoryURLs = ['https://git.test/ada/Hello.git']
    const parts: SwiftPart[] = [
      ['metadata', JSON.stringify({ repositoryURLs })],
      ['source-archive', await sourceArchive()],
    ]
    for (const path of ['/found/Hello/1.0.0', '/found/Hello/1.0.1', '/found/Other/1.0.0']) {
      t.equal(
        (await send(gateway, path, parts)).status,
        201,
        'a form with metadata before the archive is accepted',
      )
    }
    const urls = [
      'https://git.test/ada/Hello',
      'git@GIT.test:ada/Hello.git',
      'ssh://git.test/ada/Hello',
    ]
    for (const url of urls) {
      const found = await get(gateway, `/identifiers?url=${encodeURIComponent(url)}`, {
        accept: JSON_V1,
      })
      t.match(found, {
        status: 200,
        headers: { 'content-type': 'application/json', 'content-version': '1' },
      })
      t.strictSame(found.json, { identifiers: ['found.Hello', 'found.Other'] }, url)
    }
    isProblem(t, await get(gateway, '/identifiers?url=https://git.test/ada/Nothing'), 404)
    for (const query of ['', '?url=', '?url', '?url=%20', '?uri=x', '?url=%ff']) {
      isProblem(t, await get(gateway, `/identifiers${query}`), 400)
    }
  },
)

await onPackageGateway(
  t,
  'SQLite and files',
  '4.6: invalid and repeated releases are refused with 409, 413 and 422',
  async (t, gateway) => {
    t.equal((await publish(gateway, '/refused/Hello/1.0.0-rc.1')).status, 201)
    t.equal(
      (await publish(gateway, '/refused/Hello/1.0.0')).status,
      201,
      'a release is published after its release candidate',
    )
    const again = await publish(gateway, '/refused/Hello/1.0.0')
    isProblem(t, again, 409)
    t.match(JSON.parse(again.text).detail, 'a release with version 1.0.0 already exists')
    const authorization = gateway.authorizationOf('ada')
    const archive = await sourceArchive()
    const other = swiftForm(`${BASE}/REFUSED/hello/1.0.0-RC.1`, [['source-archive', archive]])
    isProblem(t, await gateway.ask({ ...other, authorization }), 409)
    for (const metadata of ['{', '[]', '{"description":1}', '{"author":"Ada"}']) {
      isProblem(t, await publish(gateway, '/refused/Hello/1.1.0', ['metadata', metadata]), 422)
    }
    isProblem(
      t,
      await publish(gateway, '/refused/Hello/1.1.0', ['metadata', ' '.repeat(262_145)]),
      413,
    )
    const signature: SwiftPart = ['source-archive-signature', Buffer.alloc(131_073)]
    isProblem(t, await publish(gateway, '/refused/Hello/1.1.0', signature), 413)
    isProblem(t, await get(gateway, '/refused/Hello/1.1.0'), 404)
  },
)

await onPackageGateway(
  t,
  'MariaDB and S3',
  '3.2 and 3.5: unknown versions, media types and methods are refused',
  async (t, gateway) => {
    await publish(gateway, '/unknown/Hello/1.0.0')
    const paths = ['', '/1.0.0', '/1.0.0.zip', '/1.0.0/Package.swift'].map(
      (end) => `/unknown/Hello${end}`,
    )
    for (const path of [...paths, '/identifiers?url=a']) {
      isProblem(
        t,
        await get(gateway, path, { accept: 'application/vnd.swift.registry.v2+json' }),
        400,
      )
      isProblem(t, await get(gateway, path, { accept: 'text/html' }), 415)
      isProblem(t, await gateway.ask({ method: 'DELETE', path: `${BASE}${path}` }), 405)
    }
    const anonymous = swiftForm(`${BASE}/unknown/Hello/2.0.0`, [])
    const refused = await gateway.ask(anonymous)
    isProblem(t, refused, 401)
    t.match(refused.headers, { 'www-authenticate': /^Basic/ })
  },
)

await onPackageGateway(
  t,
  'SQLite and files',
  '4: HEAD returns the headers of GET without the body',
  async (t, gateway) => {
    await publish(gateway, '/heads/Hello/1.0.0', [
      'metadata',
      '{"repositoryURLs":["https://a.test/b"]}',
    ])
    const ends = ['', '.json', '/1.0.0', '/1.0.0.json', '/1.0.0.zip', '/1.0.0/Package.swift']
    for (const path of [...ends.map((end) => `/heads/Hello${end}`), '/identifiers?url=a.test/b']) {
      const { headers, bytes } = await get(gateway, path)
      const { 'content-type': type, link, digest } = headers
      const head = await gateway.ask({ method: 'HEAD', path: `${BASE}${path}` })
      t.match(head, { status: 200, text: '', headers: { 'content-version': '1' } }, path)
      t.equal(head.headers['content-length'], String(bytes.length), path)
      const { 'content-type': headType, link: headLink, digest: headDigest } = head.headers
      t.strictSame([headType, headLink, headDigest], [type, link, digest], path)
    }
    isMissing(t, await gateway.ask({ method: 'HEAD', path: `${BASE}/heads/Hello/2.0.0` }))
  },
)

function isMissing(t: Test, { status, text }: Awaited<ReturnType<typeof get>>): void {
  t.match({ status, text }, { status: 404, text: '' })
}

await onPackageGateway(
  t,
  'MariaDB and S3',
  'a login succeeds with valid credentials and returns 401 without',
  async (t, gateway) => {
    for (const path of [BASE, `${BASE}/login`]) {
      const [ada, bob] = [gateway.authorizationOf('ada'), gateway.authorizationOf('bob')]
      const bearer = ada?.replace(/^token /, 'Bearer ')
      for (const authorization of [ada, bob, bearer]) {
        const answer = await gateway.ask({ method: 'POST', path, authorization })
        t.match(answer, { status: 200, text: '', headers: { 'content-version': '1' } })
      }
      isProblem(t, await gateway.ask({ method: 'POST', path }), 401)
      isProblem(t, await gateway.ask({ method: 'POST', path, authorization: 'Bearer x' }), 401)
    }
  },
)
