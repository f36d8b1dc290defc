/** Defaults derived from other settings, and the example file, which documents every key. */

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parse } from 'smol-toml'
import t from 'tap'
import { socketPathOf } from '../../conf/database-location.js'
import type { Field } from '../../conf/field.js'
import { loadSettings } from '../../conf/load.js'
import { SCHEMAS } from '../../conf/schemas.js'

const EXAMPLE = new URL('../../../conf/gatehouse.example.toml', import.meta.url).pathname

/** Loads settings from the environment only. */
function settingsOf(variables: Readonly<Record<string, string>>) {
  return loadSettings({ GATEHOUSE_CONFIG: '/dev/null', ...variables })
}

t.test('without configuration the server is reachable from this machine only', async (t) => {
  const settings = settingsOf({})
  t.strictSame(settings.http.listen, [{ host: '127.0.0.1', port: 3000 }])
  t.equal(settings.http.baseUrl, 'http://127.0.0.1:3000')
  t.equal(settings.http.basePath, '')
  t.equal(settings.http.workers, availableParallelism())
  t.equal(settings.http.upstream, undefined)
  t.equal(settings.data.dir, resolve('data'))
  t.strictSame(settings.database.location, { kind: 'sqlite', file: resolve('data/gatehouse.db') })
  t.ok(settings.http.trustedProxies.has('127.0.0.1'))
  t.notOk(settings.metrics.allow.has('192.0.2.1'), 'metrics are not public')
  t.equal(settings.attachments.sizeBytesMax, 2 * 1_024 ** 3)
})

t.test('the base URL loses its last slash and gives the base path and the SSH host', async (t) => {
  const settings = settingsOf({ GATEHOUSE_HTTP_BASE_URL: 'https://code.example:8443/forge/' })
  t.equal(settings.http.baseUrl, 'https://code.example:8443/forge')
  t.equal(settings.http.basePath, '/forge')
  t.equal(settings.ssh.host, 'code.example')
  const named = settingsOf({ GATEHOUSE_SSH_LISTEN_HOST: 'ssh.example', GATEHOUSE_SSH_PORT: '2222' })
  t.match(named.ssh, { host: 'ssh.example', port: 2222, user: 'git' })
})

t.test('an IPv6 listen address gives a valid base URL', async (t) => {
  t.equal(settingsOf({ GATEHOUSE_HTTP_LISTEN: '[::1]:8080' }).http.baseUrl, 'http://[::1]:8080')
})

t.test('a certificate makes the base URL HTTPS, and needs its key', async (t) => {
  const tls = { GATEHOUSE_HTTP_TLS_CERTIFICATE: 'cert.pem', GATEHOUSE_HTTP_TLS_KEY: '/etc/key.pem' }
  const listen = { GATEHOUSE_HTTP_LISTEN: '[::]:8443,0.0.0.0:8443' }
  const { http } = settingsOf({ ...tls, ...listen, GATEHOUSE_HTTP_REDIRECT_LISTEN: '[::]:80' })
  t.match(http, {
    listen: [
      { host: '::', port: 8443 },
      { host: '0.0.0.0', port: 8443 },
    ],
    tls: { certificate: resolve('cert.pem'), key: '/etc/key.pem' },
    redirectListen: [{ host: '::', port: 80 }],
    baseUrl: 'https://[::]:8443',
  })
  const { GATEHOUSE_HTTP_TLS_KEY: _, ...keyless } = tls
  t.throws(() => settingsOf(keyless), /http\.tls_certificate and http\.tls_key must be set toge/)
  const plain = { GATEHOUSE_HTTP_BASE_URL: 'http://code.example' }
  t.throws(() => settingsOf({ ...tls, ...plain }), /base_url must start with https: .*certificate/)
  const redirect = { ...plain, GATEHOUSE_HTTP_REDIRECT_LISTEN: '[::]:80' }
  t.throws(() => settingsOf(redirect), /base_url must start with https: if http\.redirect_listen/)
  t.throws(() => settingsOf({ GATEHOUSE_HTTP_LISTEN: '' }), /GATEHOUSE_HTTP_LISTEN must be an addr/)
})

t.test('the database is in the data folder unless it is configured', async (t) => {
  const moved = settingsOf({ GATEHOUSE_DATA_DIR: '/srv/code' })
  t.match(moved.database.location, { kind: 'sqlite', file: '/srv/code/gatehouse.db' })
  const file = settingsOf({ GATEHOUSE_DATABASE_URL: 'sqlite:/srv/db/code.db' })
  t.match(file.database.location, { kind: 'sqlite', file: '/srv/db/code.db' })
  const server = settingsOf({ GATEHOUSE_DATABASE_URL: 'mysql://ada:p%40ss@db:3306/code' })
  t.equal(server.database.location.kind === 'mysql' && server.database.location.url.host, 'db:3306')
})

t.test('a database that is neither SQLite nor MySQL is refused', async (t) => {
  for (const url of ['sqlite:', 'postgres://db/code', 'mysql://db', 'mysql:///code', 'code.db']) {
    t.throws(
      () => settingsOf({ GATEHOUSE_DATABASE_URL: url }),
      { message: /GATEHOUSE_DATABASE_URL must be sqlite:PATH or mysql:/ },
      url,
    )
  }
})

t.test('a MySQL server may have the path of a socket, and no other parameter', async (t) => {
  const server = 'mysql://ada@localhost/code'
  const { location } = settingsOf({
    GATEHOUSE_DATABASE_URL: `${server}?socket=/run/my%20sql`,
  }).database
  t.equal(location.kind === 'mysql' && socketPathOf(location.url), '/run/my sql')
  for (const query of [
    'socket=run',
    'socket=',
    'ssl=true',
    'socket=/a&ssl=true',
    'socket=/a&socket=/b',
  ]) {
    t.throws(
      () => settingsOf({ GATEHOUSE_DATABASE_URL: `${server}?${query}` }),
      { message: /GATEHOUSE_DATABASE_URL of MySQL may have one parameter, \?socket=/ },
      query,
    )
  }
})

t.test('the pack cache is in the data folder unless it is configured', async (t) => {
  t.equal(settingsOf({ GATEHOUSE_DATA_DIR: '/srv/code' }).cache.dir, '/srv/code/cache')
  t.equal(settingsOf({ GATEHOUSE_CACHE_DIR: 'c' }).cache.dir, resolve('c'))
})

t.test('blobs are in the data folder unless they are configured', async (t) => {
  const moved = settingsOf({ GATEHOUSE_DATA_DIR: '/srv/code' })
  t.strictSame(moved.blobs, {
    location: { kind: 'files', folder: '/srv/code/blobs' },
    isRedirected: false,
  })
  const elsewhere = settingsOf({ GATEHOUSE_BLOBS_URL: 'file:b', GATEHOUSE_BLOBS_REDIRECT: 'true' })
  t.strictSame(elsewhere.blobs, {
    location: { kind: 'files', folder: resolve('b') },
    isRedirected: true,
  })
})

t.test('the example file loads unchanged', async (t) => {
  t.match(loadSettings({ GATEHOUSE_CONFIG: EXAMPLE }).http.baseUrl, 'http://127.0.0.1:3000')
})

t.test('the example file documents every key with description, variable and default', async (t) => {
  t.equal(readFileSync(EXAMPLE, 'utf8').split('\n\n').slice(1).join('\n\n'), documentation())
})

t.test('every commented-out line of the example loads if it is uncommented', async (t) => {
  const text = readFileSync(EXAMPLE, 'utf8').replace(/^#(?=[a-z_]+ = )/gm, '')
  const given = parse(text) as Record<string, Record<string, unknown>>
  for (const [section, fields] of Object.entries(SCHEMAS)) {
    t.strictSame(Object.keys(given[section] ?? {}), Object.keys(fields), section)
  }
  const file = t.testdir({ 'gatehouse.toml': text })
  t.doesNotThrow(() => loadSettings({ GATEHOUSE_CONFIG: `${file}/gatehouse.toml` }))
})

/** Sample values of keys without a plain default. */
const SAMPLES: Readonly<Record<string, string | number | boolean>> = {
  'web.enabled': false,
  'http.base_url': 'https://code.example.org',
  'http.tls_certificate': '/etc/ssl/certs/code.example.org.pem',
  'http.tls_key': '/etc/ssl/private/code.example.org.key',
  'http.workers': 4,
  'http.sendfile': 'nginx:/-/internal/',
  'http.upstream': 'http://127.0.0.1:8080',
  'database.url': 'mysql://gatehouse:password@127.0.0.1:3306/gatehouse',
  'blobs.url': 's3://key:secret@s3.example.org/packages?region=us-east-1',
  'git.processes_max': 32,
  'git.client_processes_max': 64,
  'git.anonymous_clone_max': '2GiB',
  'maintenance.prune_every': '168h',
  'cache.dir': '/var/cache/gatehouse',
  'backup.dir': '/srv/backup',
  'packages.debian_index_valid': '168h',
  'actions.artifacts_owner_max': '50GiB',
  'packages.size_max': '5GiB',
  'packages.alpine_size_max': '1GiB',
  'packages.composer_size_max': '1GiB',
  'packages.cran_size_max': '1GiB',
  'packages.debian_size_max': '1GiB',
  'packages.generic_size_max': '1GiB',
  'packages.go_size_max': '1GiB',
  'packages.swift_size_max': '1GiB',
  'packages.owner_size_max': '100GiB',
  'packages.owner_versions_max': 10000,
  'lfs.owner_size_max': '100GiB',
  'metrics.token': 'a long random text',
  'ssh.socket': '/run/gatehouse/ssh.sock',
  'ssh.listen_host': 'code.example.org',
}

/** Returns the example file as generated from the schemas, without its first paragraph. */
function documentation(): string {
  const sections = Object.entries(SCHEMAS).map(([section, fields]) => {
    const keys = Object.entries<Field<unknown>>(fields).map(([key, field]) => {
      const variable = `GATEHOUSE_${section}_${key}`.toUpperCase()
      const value = field.byDefault ?? SAMPLES[`${section}.${key}`]
      const written = Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : quoted(value)
      const mark = field.byDefault === undefined ? ' (no default)' : ''
      return `# ${field.about}\n# ${variable}${mark}\n#${key} = ${written}\n`
    })
    return `[${section}]\n${keys.join('\n')}`
  })
  return sections.join('\n')
}

function quoted(value: unknown): string {
  return JSON.stringify(value)
}

t.test('backups are daily and kept for two weeks by default, and hourly at most', async (t) => {
  const day = 86_400_000
  t.strictSame(settingsOf({}).backup, { dir: undefined, everyMs: day, atMs: day / 8, keep: 14 })
  const tooOften = { GATEHOUSE_BACKUP_EVERY: '59m' }
  t.throws(() => settingsOf(tooOften), /GATEHOUSE_BACKUP_EVERY must be a duration of at least '1h'/)
})

t.test('web pages are enabled unless an upstream serves them', async (t) => {
  const pages = (environment: Record<string, string>) => settingsOf(environment).web.isEnabled
  t.equal(pages({}), true)
  t.equal(pages({ GATEHOUSE_HTTP_UPSTREAM: 'http://127.0.0.1:8080' }), false)
  const both = { GATEHOUSE_HTTP_UPSTREAM: 'http://127.0.0.1:8080', GATEHOUSE_WEB_ENABLED: 'true' }
  t.equal(pages(both), true)
})

t.test('webhooks go to public addresses only and are retried for hours by default', async (t) => {
  const { outbound, webhooks } = settingsOf({})
  t.notOk(outbound.allow.hasAddress('127.0.0.1'))
  t.match(webhooks, { timeoutMs: 5_000, deliveriesMax: 4, keptMs: 604_800_000 })
  t.strictSame(webhooks.retryAfterMs, [30_000, 120_000, 900_000, 3_600_000, 21_600_000])
  const told = settingsOf({
    GATEHOUSE_OUTBOUND_ALLOW: 'ci.example.org,10.0.0.0/8',
    GATEHOUSE_WEBHOOKS_RETRY_AFTER: '1s,2s',
  })
  t.ok(told.outbound.allow.hasName('ci.example.org'))
  t.ok(told.outbound.allow.hasAddress('10.1.2.3'))
  t.strictSame(told.webhooks.retryAfterMs, [1_000, 2_000])
  t.throws(() => settingsOf({ GATEHOUSE_OUTBOUND_ALLOW: 'http://x' }), /GATEHOUSE_OUTBOUND_ALLOW/)
})
