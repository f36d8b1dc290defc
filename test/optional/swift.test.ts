/** Swift packages with Swift itself: login, publish, resolve and run, with and without TLS. */

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeCodeSigner } from '../helpers/code-signing.js'
import { freePort } from '../helpers/free-port.js'
import { type Person, startGatehouse } from '../helpers/gatehouse.js'
import { startReverseProxy } from '../helpers/reverse-proxy.js'
import { type SwiftClient, startSwiftClient } from '../helpers/swift-client.js'

interface Fixture {
  readonly ada: Person
  readonly client: SwiftClient
  /** URL of ada's registry with TLS, which Swift requires for credentials. */
  readonly registry: string
  /** URL of ada's registry without TLS. */
  readonly plainRegistry: string
}

async function startFixture(t: Test): Promise<Fixture> {
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const gatehouse = await startGatehouse(t, { environment: { GATEHOUSE_HTTP_BASE_URL: url } })
  const gatewayPort = gatehouse.port
  const nginx = await startReverseProxy(t, 'nginx', {
    port,
    plainPort: await freePort(),
    gatewayPort,
  })
  const path = '/api/packages/ada/swift'
  return {
    ada: await gatehouse.addUser('ada'),
    client: await startSwiftClient(t, nginx.certificate),
    registry: url + path,
    plainRegistry: `http://127.0.0.1:${gatewayPort}${path}`,
  }
}

/** Maximum number of attempts, because Swift 6.0 on Linux sometimes crashes or hangs over TLS. */
const ATTEMPTS_MAX = 8

/** Runs `swift package-registry …` until `isDone` is true; returns false if it never is. */
async function runUntil(
  { client }: Fixture,
  isDone: () => Promise<boolean>,
  ...args: readonly string[]
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    await client.swift('Hello', 'package-registry', ...args)
    if (await isDone()) return true
  }
  return false
}

async function login(t: Test, fixture: Fixture, ...credentials: readonly string[]): Promise<void> {
  const { client, registry, ada } = fixture
  const file = '.netrc'
  await client.write('.', { [file]: '' })
  const isDone = async () => (await client.read(file)).includes(ada.token)
  const args = ['login', registry, '--no-confirm', ...credentials]
  t.ok(await runUntil(fixture, isDone, ...args), 'the credentials are stored')
}

/** Returns the versions that anonymous clients see. */
async function published({ plainRegistry }: Fixture): Promise<readonly string[]> {
  const response = await fetch(`${plainRegistry}/acme/Hello`)
  const { releases = {} } = (await response.json()) as { readonly releases?: object }
  return Object.keys(releases)
}

async function publish(
  t: Test,
  fixture: Fixture,
  version: string,
  ...signing: readonly string[]
): Promise<void> {
  await fixture.client.write('Hello', library(version))
  const isDone = async () => (await published(fixture)).includes(version)
  const args = ['publish', 'acme.Hello', version, '--url', fixture.registry, ...signing]
  t.ok(await runUntil(fixture, isDone, ...args), `${version} is published`)
}

function manifest(toolsVersion: string, target = ''): string {
  return `// swift-tools-version:${toolsVersion}
import PackageDescription
let package = Package(
  name: "Hello",
  products: [.library(name: "Hello", targets: ["Hello"])],
  targets: [.target(name: "Hello"${target})]
)
`
}

function library(version: string) {
  return {
    'Package.swift': manifest('5.9'),
    'Package@swift-6.0.swift': manifest('6.0', ', swiftSettings: [.define("SIX")]'),
    'Sources/Hello/Hello.swift': `#if SIX
public let greeting = "hello from ${version}, for Swift 6"
#else
public let greeting = "hello from ${version}"
#endif
`,
  }
}

const PROGRAM = {
  'Package.swift': `// swift-tools-version:5.9
import PackageDescription
let package = Package(
  name: "App",
  dependencies: [.package(id: "acme.Hello", from: "1.0.0")],
  targets: [
    .executableTarget(name: "App", dependencies: [.product(name: "Hello", package: "acme.Hello")])
  ]
)
`,
  'Sources/App/main.swift': 'import Hello\nprint(greeting)\n',
}

t.test('a package published over TLS with a token is resolved and runs', async (t) => {
  const fixture = await startFixture(t)
  const { client, registry, plainRegistry, ada } = fixture
  await client.write('Hello', library(''))
  await login(t, fixture, '--token', ada.token)
  const metadata = { author: { name: 'Ada' }, repositoryURLs: ['https://git.test/ada/Hello?a=3D'] }
  await client.write('Hello', { 'package-metadata.json': JSON.stringify(metadata) })
  for (const version of ['1.0.0', '1.2.0', '2.0.0-beta.1']) await publish(t, fixture, version)
  t.strictSame(await published(fixture), ['2.0.0-beta.1', '1.2.0', '1.0.0'])
  const release = await fetch(`${plainRegistry}/acme/Hello/1.0.0`)
  t.match(await release.json(), { metadata: { ...metadata, '@type': 'SoftwareSourceCode' } })

  await client.write('App', PROGRAM)
  await client.swift('App', 'package-registry', 'set', registry)
  t.match(await client.swift('App', 'run'), {
    exitCode: 0,
    output: /hello from 1\.2\.0, for Swift 6/,
  })
  t.match(await client.read('App/Package.resolved'), /"version" : "1\.2\.0"/)
})

t.test('a package is resolved without TLS and without login', async (t) => {
  const fixture = await startFixture(t)
  const { client, plainRegistry, ada } = fixture
  await client.write('Hello', library(''))
  await login(t, fixture, '--username', ada.name, '--password', ada.token)
  await publish(t, fixture, '1.0.0')
  await client.write('.', { '.netrc': '' })
  await client.write('App', PROGRAM)
  await client.swift('App', 'package-registry', 'set', '--allow-insecure-http', plainRegistry)
  t.match(await client.swift('App', 'run'), { exitCode: 0, output: /hello from 1\.0\.0/ })
})

/** Settings that accept only packages signed with a certificate of a trusted authority. */
const STRICT = {
  onUnsigned: 'error',
  onUntrustedCertificate: 'error',
  includeDefaultTrustedRootCertificates: false,
  validationChecks: { certificateExpiration: 'enabled', certificateRevocation: 'disabled' },
}

t.test('a client that requires signatures resolves only signed versions', async (t) => {
  const fixture = await startFixture(t)
  const { client, plainRegistry, ada } = fixture
  await client.write('Hello', { ...library(''), 'package-metadata.json': '{}' })
  await login(t, fixture, '--token', ada.token)
  const { key, certificate, authority } = await makeCodeSigner(client.home)
  const chain = ['--cert-chain-paths', `../${certificate}`, `../${authority}`]
  await publish(t, fixture, '1.0.0', '--private-key-path', `../${key}`, ...chain)
  const trusted = join(client.home, 'trusted')
  await mkdir(trusted)
  await copyFile(join(client.home, authority), join(trusted, authority))

  const registries = '.swiftpm/configuration/registries.json'
  const settings = JSON.parse(await client.read(registries))
  const trustedRootCertificatesPath = `${client.ownHome}/trusted`
  settings.security = { default: { signing: { ...STRICT, trustedRootCertificatesPath } } }
  await client.write('.', { [registries]: JSON.stringify(settings) })
  await client.write('App', PROGRAM)
  await client.swift('App', 'package-registry', 'set', '--allow-insecure-http', plainRegistry)
  t.match(await client.swift('App', 'run'), { exitCode: 0, output: /hello from 1\.0\.0/ })
  await publish(t, fixture, '1.1.0')
  const update = await client.swift('App', 'package', 'update')
  t.match(update, { exitCode: 1, output: /1\.1\.0 source archive from \S+ is not signed/ })
})
