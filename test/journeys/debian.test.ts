/** Debian packages: uploads, and installations with apt and dpkg themselves. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { makeOpenpgpKey, openSigner } from '../../registry/sign/openpgp.js'
import { type AptOptions, type AptRoot, newAptRoot } from '../helpers/apt-client.js'
import { buildDeb, buildSource, type DebToBuild } from '../helpers/deb-builder.js'
import { mirrorWithAptly, mirrorWithReprepro } from '../helpers/debian-mirrors.js'
import { controlOf, debOf } from '../helpers/debs.js'
import {
  onPackageGatehouse,
  type PackageGatehouse,
  putPackage,
} from '../helpers/package-gatehouses.js'
import { isFullSize } from '../helpers/test-size.js'

/** Last of the versions that are published during updates of apt. */
const LAST_VERSION = isFullSize ? 11 : 5

interface Sending extends DebToBuild {
  /** Distribution and component, such as `bookworm/main`. */
  readonly place: string
}

interface Repository {
  readonly url: string
  readonly key: Buffer
  /** Publishes a package, which dpkg-deb builds if it has a packing. */
  send(deb: Sending): Promise<void>
  /** Creates a root for apt; `URL` and `KEY` in sources are replaced by the repository's. */
  root(options: Omit<AptOptions, 'key'> & { readonly key?: Uint8Array }): Promise<AptRoot>
}

async function openRepository(
  t: Test,
  fixture: PackageGatehouse,
  owner = 'ada',
): Promise<Repository> {
  const url = `${fixture.url}/api/packages/${owner}/debian`
  const headers = { authorization: `token ${fixture.ada.token}` }
  const key = Buffer.from(await (await fetch(`${url}/repository.key`, { headers })).arrayBuffer())
  return {
    url,
    key,
    async send({ place, ...deb }) {
      const to = `${url}/pool/${place}/upload`
      const answer = await putPackage(fixture.ada, to, await bytesOf(t, deb))
      t.equal(answer, '201', `${deb.fields['Package']} goes to ${place}`)
    },
    root: (options) =>
      newAptRoot(t, {
        key,
        ...options,
        sources: options.sources.map((line) => line.replaceAll('URL', url)),
      }),
  }
}

async function bytesOf(t: Test, deb: DebToBuild): Promise<Buffer> {
  if (deb.packing !== undefined) return await buildDeb(t, deb)
  const files = Object.entries(deb.files ?? {})
  return debOf({
    control: controlOf(deb.fields),
    files: files.map(([path, body]) => ({ path: `./${path}`, body })),
  })
}

async function succeeds(t: Test, root: AptRoot, ...args: readonly string[]): Promise<string> {
  const { exitCode, output } = await root.get(...args)
  t.equal(exitCode, 0, `apt-get ${args.join(' ')}\n${output}`)
  t.notMatch(output, /^[WE]:/m, `apt-get ${args[0]} prints no warning or error`)
  return output
}

/** Checks that an unchanged index is not fetched again once the server sends Last-Modified. */
async function isHitAtLast(t: Test, { url, root }: Repository): Promise<void> {
  const isDated = async () =>
    (await fetch(`${url}/dists/bookworm/InRelease`)).headers.has('last-modified')
  for (let tries = 0; tries < 120 && !(await isDated()); tries += 1) await sleep(500)
  const apt = await root({ sources: ['deb [signed-by=KEY] URL bookworm main'] })
  await succeeds(t, apt, 'update')
  t.match(await succeeds(t, apt, 'update'), /^Hit:1 /m)
}

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'a new package is installed and upgraded immediately after its publication',
  async (t, fixture) => {
    const repository = await openRepository(t, fixture)
    const { send, root } = repository
    const versions = ['1.0-1', '1:0.9~rc1+dfsg-1', '1:0.9+b1']
    for (const [at, Version] of versions.entries()) {
      const fields = { Package: 'g++-tool', Version, Depends: 'tool-data' }
      const packing = (['gzip', 'xz', 'zstd'] as const)[at] ?? 'none'
      await send({ place: 'bookworm/main', fields, packing, files: { 'opt/tool': Version } })
    }
    const data = { Package: 'tool-data', Architecture: 'all' }
    await send({ place: 'bookworm/main', fields: data, packing: 'none' })
    const apt = await root({ sources: ['deb [signed-by=KEY] URL bookworm main'] })
    await succeeds(t, apt, 'update')
    const policy = (await apt.cache('policy', 'g++-tool')).output
    for (const version of versions) t.match(policy, ` ${version} 500\n`, 'all versions are listed')
    for (const version of versions.slice(0, 2)) {
      await succeeds(t, apt, 'install', '-y', `g++-tool=${version}`)
      t.strictSame(await apt.installed(), { 'g++-tool': version, 'tool-data': '1.0' })
      t.equal(await readFile(join(apt.folder, 'opt/tool'), 'utf8'), version)
    }
    await succeeds(t, apt, 'upgrade', '-y')
    t.equal((await apt.installed())['g++-tool'], '1:0.9+b1', 'the newest version is installed')
    for (const Version of isFullSize ? ['2:1', '2:2', '2:3'] : ['2:1']) {
      await send({ place: 'bookworm/main', fields: { Package: 'g++-tool', Version } })
      await succeeds(t, apt, 'update')
      await succeeds(t, apt, 'upgrade', '-y')
      t.equal(
        (await apt.installed())['g++-tool'],
        Version,
        'a new version is installed immediately',
      )
    }
    await isHitAtLast(t, repository)
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'distributions and components have separate indexes',
  async (t, fixture) => {
    const { send, root } = await openRepository(t, fixture)
    const wanted = {
      'stable/main': { Package: 'both', Version: '1.0' },
      'testing/main': { Package: 'both', Version: '2.0' },
      'stable/contrib': { Package: 'extra', Version: '3.0', Architecture: 'all' },
      'testing/contrib': { Package: 'foreign', Version: '4.0', Architecture: 'arm64' },
    }
    for (const [place, fields] of Object.entries(wanted)) await send({ place, fields })
    const apt = await root({
      sources: [
        'deb [signed-by=KEY] URL stable main contrib',
        'deb [signed-by=KEY] URL testing main contrib',
      ],
    })
    await succeeds(t, apt, 'update')
    const known = (await apt.cache('madison', 'both', 'extra', 'foreign')).output
    const lines = known.split('\n').filter((line) => line.includes('|'))
    t.strictSame(
      lines
        .map((line) =>
          line
            .replace(/\s+/g, ' ')
            .replace(/http\S+/, 'URL')
            .trim(),
        )
        .sort(),
      [
        'both | 1.0 | URL stable/main amd64 Packages',
        'both | 2.0 | URL testing/main amd64 Packages',
        'extra | 3.0 | URL stable/contrib all Packages',
      ],
    )
    await succeeds(t, apt, 'install', '-y', 'both/stable', 'extra')
    t.strictSame(await apt.installed(), { both: '1.0', extra: '3.0' })
    await succeeds(t, apt, 'install', '-y', '-t', 'testing', 'both')
    t.equal((await apt.installed())['both'], '2.0')
    t.match((await apt.get('install', '-y', 'foreign')).output, /Unable to locate package foreign/)
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'the packages of a private owner need credentials, and their index the key of its owner',
  async (t, fixture) => {
    const { api, name, token } = fixture.ada
    const visibility = { username: 'guild', visibility: 'private' }
    t.equal((await api('POST', '/orgs', visibility)).status, 201)
    const { send, root, url, key } = await openRepository(t, fixture, 'guild')
    await send({ place: 'bookworm/main', fields: { Package: 'secret' }, files: { 'opt/x': 'x' } })
    const plain = 'deb [signed-by=KEY] URL bookworm main'
    const { origin } = new URL(url)
    const addressed = (credentials: string): Omit<AptOptions, 'key'> => ({
      sources: [plain.replace('URL', url.replace('//', `//${credentials}@`))],
    })
    const ways: readonly Omit<AptOptions, 'key'>[] = [
      { sources: [plain], auth: `machine ${origin} login ${name} password ${token}\n` },
      addressed(`${token}:`),
      ...(isFullSize ? [addressed(`${name}:${token}`)] : []),
    ]
    for (const options of ways) {
      const apt = await root(options)
      await succeeds(t, apt, 'update')
      t.match(await succeeds(t, apt, 'install', '-y', '--download-only', 'secret'), /^Fetched /m)
    }
    const anonymous = await root({ sources: [plain] })
    const refused = await anonymous.get('update')
    t.not(refused.exitCode, 0)
    t.match(refused.output, /401 +Unauthorized/)
    const ada = await openRepository(t, fixture)
    t.notOk(ada.key.equals(key), 'each owner has their own key')
    const wrong = await root({ ...addressed(`${token}:`), key: ada.key })
    const unsigned = await wrong.get('update')
    t.not(unsigned.exitCode, 0)
    t.match(unsigned.output, /NO_PUBKEY/)
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'apt downloads the files in which apt-file finds the package of a path',
  async (t, fixture) => {
    const { send, root } = await openRepository(t, fixture)
    const place = 'contents/main'
    const tool = { Package: 'tool', Section: 'utils' }
    await send({ place, fields: tool, files: { 'usr/bin/tool': 'x', 'usr/share/é': '' } })
    const data = { Package: 'tool-data', Architecture: 'all' }
    await send({ place, fields: data, files: { 'usr/share/tool/data': 'y' } })
    const sources = ['deb [signed-by=KEY] URL contents main']
    const apt = await root({ sources, hasContents: true })
    await succeeds(t, apt, 'update')
    const lines = await apt.contents()
    const found = (path: string) => lines.find((line) => line.startsWith(`${path} `))
    t.match(found('usr/bin/tool'), /^\S+ +utils\/tool$/)
    t.match(found('usr/share/é'), /^\S+ +utils\/tool$/)
    t.match(found('usr/share/tool/data'), /^\S+ +tool-data$/)
    await send({ place, fields: { Package: 'late' }, files: { 'usr/bin/late': 'z' } })
    await succeeds(t, apt, 'update')
    const later = (await apt.contents()).find((line) => line.startsWith('usr/bin/late '))
    t.match(later, /^\S+ +late$/)
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'apt-get source downloads and unpacks a source package',
  async (t, fixture) => {
    const { root, url } = await openRepository(t, fixture)
    const put = async (name: string, bytes: Uint8Array, status = 201) => {
      const headers = { authorization: `token ${fixture.ada.token}` }
      const request = { method: 'PUT', headers, body: new Uint8Array(bytes) }
      const answer = await fetch(`${url}/pool/sources/main/${name}`, request)
      t.equal(answer.status, status, `${name} ${await answer.text()}`)
    }
    const signer = await openSigner([await makeOpenpgpKey('ada', 'ed25519')], { atMs: Date.now() })
    const packages = { plain: '1.0-1', signed: '1:2.0~rc1-1' }
    for (const [name, version] of Object.entries(packages)) {
      const files = await buildSource(t, { name, version })
      const dsc = [...files.keys()].find((file) => file.endsWith('.dsc')) ?? ''
      const text = files.get(dsc)?.toString() ?? ''
      for (const [file, bytes] of files) if (file !== dsc) await put(file, bytes)
      await put(dsc, Buffer.from(name === 'signed' ? await signer.clearSign(text) : text))
    }
    const apt = await root({ sources: ['deb-src [signed-by=KEY] URL sources main'] })
    await succeeds(t, apt, 'update')
    const { exitCode, output } = await apt.get('source', ...Object.keys(packages))
    t.equal(exitCode, 0, output)
    for (const [name, upstream] of [
      ['plain', '1.0'],
      ['signed', '2.0~rc1'],
    ]) {
      const file = join(apt.folder, `${name}-${upstream}/hello.txt`)
      t.equal(await readFile(file, 'utf8'), `hello from ${upstream}\n`)
    }
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'aptly and reprepro mirror a distribution',
  async (t, fixture) => {
    const { send, url } = await openRepository(t, fixture)
    await send({ place: 'mirrored/main', fields: { Package: 'tool', Version: '1:2.0-1' } })
    const key = new Uint8Array(await (await fetch(`${url}/repository.gpg`)).arrayBuffer())
    const source = { url, distribution: 'mirrored', component: 'main', key }
    t.match(await mirrorWithAptly(t, source), { exitCode: 0, output: /^ {2}tool_1:2\.0-1_amd64$/m })
    t.match(await mirrorWithReprepro(t, source), { exitCode: 0, output: /: tool 1:2\.0-1$/m })
  },
)

// threats/index-under-fire publishes concurrently on both databases.
await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'apt update succeeds during publications',
  async (t, fixture) => {
    const { send, root, url } = await openRepository(t, fixture)
    const place = 'moving/main'
    await send({ place, fields: { Package: 'tool', Version: '1' } })
    const release = await (await fetch(`${url}/dists/moving/InRelease`)).text()
    const [, digest = ''] =
      /^ ([0-9a-f]{128}) \d+ main\/binary-amd64\/Packages\.gz$/m.exec(release) ?? []
    const apt = await root({ sources: ['deb [signed-by=KEY] URL moving main'] })
    let isDone = false
    const sending = (async () => {
      for (let version = 2; version <= LAST_VERSION; version += 1) {
        await send({ place, fields: { Package: 'tool', Version: `${version}` } })
      }
      isDone = true
    })()
    while (!isDone) await succeeds(t, apt, 'update')
    await sending
    await succeeds(t, apt, 'update')
    t.match((await apt.cache('policy', 'tool')).output, `Candidate: ${LAST_VERSION}\n`)
    const old = await fetch(`${url}/dists/moving/main/binary-amd64/by-hash/SHA512/${digest}`)
    t.equal(old.status, 200, 'the index of the first Release can still be read by its hash')
  },
)
