/** Go modules: uploads, and downloads with the go command itself. */

import { once } from 'node:events'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { type Test, t } from 'tap'
import { freePort } from '../helpers/free-port.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { type GoClient, type GoClientOptions, newGoClient } from '../helpers/go-client.js'
import { moduleFiles, moduleSum, moduleZip } from '../helpers/modules.js'
import { onPackageGatehouse, putPackage } from '../helpers/package-gatehouses.js'
import { makeRepository } from '../helpers/repositories.js'
import { startReverseProxy } from '../helpers/reverse-proxy.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'
import { zipOf } from '../helpers/zips.js'

/** Publishes a zip; returns the body of the reply followed by its status. */
async function publish({ ada, owner, zip, port }: Pick<Gatehouse, 'port'> & PublishOptions) {
  return await putPackage(ada, `http://127.0.0.1:${port}/api/packages/${owner}/go/upload`, zip)
}

interface PublishOptions {
  readonly ada: Person
  readonly owner: string
  readonly zip: Buffer
}

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'a module is downloaded with the expected checksums',
  async (t, fixture) => {
    const owner = 'ada'
    const path = 'example.test/Org/Lib'
    const goMod = `module ${path} // capitals\n\ngo 1.19\n`
    const files = {
      'go.mod': goMod,
      'lib.go': 'package lib\n\nconst Answer = 42\n',
      LICENSE: 'free',
    }
    for (const version of ['v1.2.0', 'v1.10.0', 'v1.11.0-rc.1', 'v1.9.0']) {
      const zip = await moduleZip(`${path}@${version}`, files)
      t.equal(await publish({ ...fixture, owner, zip }), '201', version)
    }
    const proxy = `${fixture.url}/api/packages/${owner}/go`
    const { go, download, folder } = await newGoClient(t, { proxy })

    const got = (await download(`${path}@v1.2.0`))[`${path}@v1.2.0`]
    t.equal(got?.['Sum'], moduleSum(moduleFiles(`${path}@v1.2.0`, files)))
    t.equal(got?.['GoModSum'], moduleSum({ 'go.mod': goMod }))
    const zip = await readFile(got?.['Zip'] ?? '')
    t.ok(
      zip.equals(await moduleZip(`${path}@v1.2.0`, files)),
      'the downloaded bytes equal the upload',
    )

    const listed = await go('list', '-m', '-versions', path)
    t.equal(listed.output, `${path} v1.2.0 v1.9.0 v1.10.0 v1.11.0-rc.1`)
    const latest = await go('get', `${path}@latest`)
    t.match(latest.errorText, `added ${path} v1.10.0`)
    await writeFile(
      join(folder, 'main.go'),
      `package main\n\nimport _ "${path}"\n\nfunc main() {}\n`,
    )
    const used = await go(
      'list',
      '-deps',
      '-f',
      '{{with .Module}}{{.Path}} {{.Version}}{{end}}',
      '.',
    )
    t.match(used.output, `${path} v1.10.0`, 'the packages of the module are found')
    t.match((await go('get', `${path}@v1.9.0`)).errorText, `downgraded ${path} v1.10.0 => v1.9.0`)
    t.match((await go('get', `${path}@v1.11.0-rc.1`)).errorText, '=> v1.11.0-rc.1')
    t.match((await go('mod', 'verify')).output, 'all modules verified')
    const lower = await go('list', '-m', '-versions', path.toLowerCase())
    t.match(lower.errorText, /404 Not Found/, 'a path in another letter case is another module')
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'the latest version of each kind is the one that go selects',
  async (t, fixture) => {
    const owner = 'ada'
    const [old, young] = [
      'v0.0.0-20200102030405-abcdef123456',
      'v0.0.0-20210102030405-012345abcdef',
    ]
    const names = [
      'kinds.test/major/v2@v2.0.0',
      'kinds.test/major/v2@v2.1.0',
      'kinds.test/major@v1.0.0',
      'kinds.test/early@v0.1.0-rc.2',
      'kinds.test/early@v0.1.0-rc.10',
      `kinds.test/early@${old}`,
      `kinds.test/commits@${young}`,
      `kinds.test/commits@${old}`,
    ]
    for (const name of names) {
      t.equal(await publish({ ...fixture, owner, zip: await moduleZip(name) }), '201', name)
    }
    for (const version of ['v1.0.0', 'v3.0.0+incompatible']) {
      const zip = await zipOf({ [`kinds.test/old@${version}/old.go`]: 'package old\n' })
      t.equal(await publish({ ...fixture, owner, zip }), '201', version)
    }
    const proxy = `${fixture.url}/api/packages/${owner}/go`
    const { go, download } = await newGoClient(t, { proxy })
    const latest: Readonly<Record<string, string>> = {
      'kinds.test/major': 'v1.0.0',
      'kinds.test/major/v2': 'v2.1.0',
      'kinds.test/early': 'v0.1.0-rc.10',
      'kinds.test/commits': young,
      'kinds.test/old': 'v3.0.0+incompatible',
    }
    const wanted = Object.keys(latest).map((path) => `${path}@latest`)
    const got = await download(...wanted, `kinds.test/commits@${old}`, 'kinds.test/old@v1.0.0')
    t.match(await go('get', ...wanted), { exitCode: 0 })
    for (const [path, version] of Object.entries(latest)) {
      t.equal(got[`${path}@latest`]?.['Version'], version, path)
      const own = await fetch(`${proxy}/${path}/@latest`)
      t.equal(
        ((await own.json()) as { Version: string }).Version,
        version,
        '@latest returns the same version',
      )
    }
    const commit = got[`kinds.test/commits@${old}`]
    t.equal(commit?.['Sum'], moduleSum(moduleFiles(`kinds.test/commits@${old}`)))
    const plain = got['kinds.test/old@v1.0.0']
    t.equal(plain?.['GoModSum'], moduleSum({ 'go.mod': 'module kinds.test/old\n' }))
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'a module that is missing at one proxy is requested from the next one',
  async (t, fixture) => {
    const name = `next.test/${fixture.port}@v1.0.0`
    t.equal((await fixture.ada.api('POST', '/orgs', { username: 'guild' })).status, 201)
    t.equal(await publish({ ...fixture, owner: 'guild', zip: await moduleZip(name) }), '201')
    const base = `${fixture.url}/api/packages`
    const { download } = await newGoClient(t, { proxy: `${base}/ada/go,${base}/guild/go` })
    t.match(await download(name), { [name]: { Version: 'v1.0.0' } })
    const { go } = await newGoClient(t, { proxy: `${base}/ada/go,off` })
    t.match(
      (await go('mod', 'download', '-json', name)).output,
      /module lookup disabled by GOPROXY/,
    )
  },
)

/** Writes files, commits them and tags the commit; returns the commit. */
async function commitFiles(
  copy: WorkingCopy,
  files: Readonly<Record<string, string>>,
  tags: readonly string[],
): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(copy.path, name)), { recursive: true })
    await writeFile(join(copy.path, name), content)
  }
  await copy.git('add', '--all')
  await copy.git('commit', '--quiet', '--message', 'Change', '--allow-empty')
  for (const tag of tags) await copy.git('tag', tag)
  return await copy.git('rev-parse', 'HEAD')
}

/** Client that clones modules from their repositories, as without a proxy. */
async function newDirectClient(t: Test, { url }: Gatehouse) {
  // No module path has a port.
  const rewrites = [`${url}/`, 'https://127.0.0.1/'] as const
  return await newGoClient(t, {
    proxy: 'direct',
    environment: {
      GOVCS: '*:all',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${rewrites[0]}.insteadOf`,
      GIT_CONFIG_VALUE_0: rewrites[1],
    },
  })
}

/** Files that the go command, or git for it, changes or leaves out of a module. */
function unusualFiles(path: string): Readonly<Record<string, string>> {
  return {
    'go.mod': `module ${path}\n\ngo 1.19\n`,
    'lib.go': 'package lib\n\nconst Answer = 42\n',
    LICENSE: 'free\n',
    '.gitattributes': [
      '[attr]dos text eol=crlf',
      'ignored.go export-ignore',
      'subst.txt export-subst',
      '*.bat dos',
      'ident.txt ident',
      'sub/crlf.txt eol=crlf',
      'LICENSE eol=crlf',
      '',
    ].join('\n'),
    'ignored.go': 'package lib\n',
    'subst.txt': '$Format:%H$\n',
    'ident.txt': '$Id$\n',
    'run.bat': 'one\ntwo\n',
    'größe.txt': 'ß\n',
    'large.bat': 'line\n'.repeat(100_000),
    'vendor/modules.txt': '# none\n',
    'vendor/example.test/x/x.go': 'package x\n',
    'deep/vendor/x/x.go': 'package x\n',
    'deep/vendor/x.go': 'package x\n',
    'sub/go.mod': `module ${path}/sub\n`,
    'sub/sub.go': 'package sub\n',
    'sub/crlf.txt': 'one\ntwo\n',
    'sub/inner/GO.MOD': 'module other.test/x\n',
    'sub/inner/inner.go': 'package inner\n',
    'v2/go.mod': `module ${path}/v2\n`,
    'v2/lib.go': 'package lib\n',
    '.hg_archival.txt': 'hg\n',
  }
}

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'modules of repositories are downloaded without an upload, with the checksums of a clone',
  async (t, fixture) => {
    await makeRepository(fixture.ada, 'Lib')
    const path = '127.0.0.1/ada/Lib.git'
    const copy = await newWorkingCopy(t)
    const first = await commitFiles(copy, { 'go.mod': `module ${path}\n` }, [])
    await symlink('lib.go', join(copy.path, 'link.go'))
    await commitFiles(copy, unusualFiles(path), ['v1.0.0', 'sub/v0.1.0', 'v2.0.0', 'other'])
    await chmod(join(copy.path, 'lib.go'), 0o755)
    const tags = ['v1.2.0', 'v1.10.0', 'v1.11.0-rc.1', 'v1', 'v1.3.0+meta']
    await commitFiles(copy, { 'lib.go': 'package lib\n' }, tags)
    const retracted = `retract (\n\tv1.12.0 // itself\n\t[v1.9.0, v1.11.0] // more\n)\n`
    await commitFiles(copy, { 'go.mod': `module ${path}\n\n${retracted}` }, ['v1.12.0'])
    const last = await commitFiles(copy, { 'lib.go': 'package lib // last\n' }, [])
    await copy.git('push', '--quiet', fixture.ada.remote('ada/Lib'), 'main', '--tags')
    const { download, go } = await newGoClient(t, { proxy: `${fixture.url}/api/packages/ada/go` })
    const direct = await newDirectClient(t, fixture)
    const names = [
      `${path}@v1.0.0`,
      `${path}@v1.10.0`,
      `${path}@latest`,
      `${path}@main`,
      `${path}@${last.slice(0, 9)}`,
      `${path}@${first}`,
      `${path}@v1.3.0+meta`,
      `${path}/sub@v0.1.0`,
      `${path}/sub@main`,
      `${path}/v2@v2.0.0`,
      `${path}/v2@${last.slice(0, 12)}`,
    ]
    const own = await download(...names)
    for (const [name, { Version, Sum, GoModSum }] of Object.entries(
      await direct.download(...names),
    )) {
      t.match(own[name], { Version, Sum, GoModSum }, name)
    }
    const words = ['list', '-m', '-versions', path, `${path}/sub`, `${path}/v2`]
    const listed = await go(...words)
    t.match(listed, { exitCode: 0, output: `${path}/sub v0.1.0` })
    t.equal(listed.output, (await direct.go(...words)).output)
    const info = await fetch(`${fixture.url}/api/packages/ada/go/127.0.0.1/ada/!lib/@v/v1.0.0.info`)
    t.match(await info.json(), {
      Version: 'v1.0.0',
      Time: /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      Origin: { VCS: 'git', URL: `${fixture.url}/ada/Lib.git`, Ref: 'refs/tags/v1.0.0' },
    })
  },
)

interface Site {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly bob: Person
  /** Creates a client that reaches the server by its name and trusts its certificate. */
  client(options: Omit<GoClientOptions, 'certificate'>): Promise<GoClient>
}

const BASE = 'https://code.example.org'

t.test('go reaches a server behind nginx by its name', async (t) => {
  const environment = { GATEHOUSE_HTTP_BASE_URL: BASE }
  const gatehouse = await startGatehouse(t, { workers: 1, environment })
  const [port, plainPort] = [await freePort(), await freePort()]
  const { certificate } = await startReverseProxy(t, 'nginx', {
    port,
    plainPort,
    gatewayPort: gatehouse.port,
  })
  const https_proxy = await startTunnel(t, port)
  const variables = { https_proxy, GIT_SSL_CAINFO: certificate }
  const site = {
    gatehouse,
    ada: await gatehouse.addUser('ada'),
    bob: await gatehouse.addUser('bob'),
    client: ({ environment, ...options }: GoClientOptions) =>
      newGoClient(t, { ...options, certificate, environment: { ...variables, ...environment } }),
  }
  await t.test('go sends credentials for a private owner', async (t) => {
    await sendCredentials(t, site)
  })
  await t.test('go get finds repositories, folders and v2 without a module proxy', async (t) => {
    await getWithoutProxy(t, site)
  })
})

async function sendCredentials(t: Test, { gatehouse, ada, bob, client }: Site): Promise<void> {
  const owner = 'guild'
  const made = await ada.api('POST', '/orgs', { username: owner, visibility: 'private' })
  t.equal(made.status, 201)
  const name = 'secret.test/lib@v1.0.0'
  const zip = await moduleZip(name)
  t.equal(await publish({ port: gatehouse.port, ada, owner, zip }), '201')

  const proxy = `${BASE}/api/packages/${owner}/go`
  const netrcOf = ({ name, token }: Person) =>
    `machine code.example.org login ${name} password ${token}\n`
  const member = await client({ proxy, netrc: netrcOf(ada) })
  const got = await member.download(name)
  t.equal(got[name]?.['Sum'], moduleSum(moduleFiles(name)), 'credentials from a netrc file')
  const inUrl = proxy.replace('//', `//${ada.name}:${ada.token}@`)
  const other = await client({ proxy: inUrl })
  t.match(await other.download(name), { [name]: { Version: 'v1.0.0' } })

  const anonymous = await client({ proxy })
  t.match((await anonymous.go('mod', 'download', '-json', name)).output, /401 Unauthorized/)
  const bobs = await client({ proxy, netrc: netrcOf(bob) })
  t.match((await bobs.go('mod', 'download', '-json', name)).output, /404 Not Found/)

  await makeRepository(ada, 'hidden', { private: true })
  const copy = await newWorkingCopy(t)
  const path = 'code.example.org/ada/hidden'
  await commitFiles(copy, { 'go.mod': `module ${path}\n` }, ['v1.0.0'])
  await copy.git('push', '--quiet', ada.remote('ada/hidden'), 'main', '--tags')
  const ofAda = `${BASE}/api/packages/ada/go`
  const reader = await client({ proxy: ofAda, netrc: netrcOf(ada) })
  const own = await reader.download(`${path}@v1.0.0`)
  t.match(own, { [`${path}@v1.0.0`]: { Version: 'v1.0.0' } }, 'a module of a private repository')
  const stranger = await client({ proxy: ofAda, netrc: netrcOf(bob) })
  t.match((await stranger.go('mod', 'download', '-json', `${path}@v1.0.0`)).output, /404 Not Found/)
}

/** Uses the private repository of `sendCredentials`. */
async function getWithoutProxy(t: Test, { gatehouse, ada, client }: Site): Promise<void> {
  await makeRepository(ada, 'Lib')
  const path = 'code.example.org/ada/Lib'
  const copy = await newWorkingCopy(t)
  const files = { 'go.mod': `module ${path}\n`, 'cmd/hi/hi.go': 'package main\nfunc main() {}\n' }
  await commitFiles(copy, files, ['v1.0.0'])
  await commitFiles(copy, { 'v2/go.mod': `module ${path}/v2\n`, 'v2/a.go': 'package a\n' }, [
    'v2.0.0',
  ])
  await copy.git('push', '--quiet', ada.remote('ada/Lib'), 'main', '--tags')

  const { download, go } = await client({ proxy: 'direct', environment: { GOVCS: '*:all' } })
  const names = [`${path}@v1.0.0`, `${path}/v2@v2.0.0`]
  const got = await download(...names)
  for (const name of names) t.equal(got[name]?.['Version'], name.split('@')[1], name)
  const install = await go('install', `${path}/cmd/hi@latest`)
  t.equal(install.exitCode, 0, install.errorText)

  const pageOf = async (repository: string, query: string) => {
    const response = await fetch(`http://127.0.0.1:${gatehouse.port}/ada/${repository}${query}`)
    return { status: response.status, text: await response.text() }
  }
  const hidden = await pageOf('hidden', '?go-get=1')
  const missing = await pageOf('missing', '?go-get=1')
  t.equal(
    hidden.text.replaceAll('hidden', 'missing'),
    missing.text,
    'the same as for a missing one',
  )
  const imported = `code.example.org/ada/hidden git ${BASE}/ada/hidden.git`
  t.match(hidden, { status: 200, text: imported })
  t.notMatch((await pageOf('%22%3E%3Csvg%3E', '?go-get=1')).text, '<svg')
  t.equal((await pageOf('Lib/folder', '')).status, 404, 'other requests have no such route')
  t.equal((await pageOf('Lib/folder', '?go-get=2')).status, 404)
}

/** Starts a proxy that tunnels connections to any host to that port. */
async function startTunnel(t: Test, port: number): Promise<string> {
  const server = createServer()
  server.on('connect', (_, client: Socket) => {
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(target).pipe(client)
    })
    client.on('error', () => target.destroy())
    target.on('error', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
