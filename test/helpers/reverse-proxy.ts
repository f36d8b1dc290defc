/** Real reverse proxies in front of a server, with the examples of conf/ or variants of them. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from './certificate.js'
import { temporaryFolder } from './temporary.js'

const STARTS_WITHIN_MS = 60_000

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface ReverseProxy {
  /** File of the certificate for 127.0.0.1 and code.example.org, which clients must trust. */
  readonly certificate: string
}

export interface ReverseProxyOptions {
  /** Port with TLS. */
  readonly port: number
  /** Port without TLS, which redirects to the port with TLS. */
  readonly plainPort: number
  readonly gatewayPort: number
  /** Changes to the example, such as another location. */
  readonly edit?: (example: string) => string
}

/** Values that replace those of an example. */
interface Place extends ReverseProxyOptions {
  /** Folder for the configuration, and for files of the proxy. */
  readonly folder: string
  /** Files of the certificate, of its key, and of both. */
  readonly certificate: string
  readonly key: string
  readonly both: string
}

type Replacement = readonly [found: string, replacement: string]

interface Kind {
  /** Name of the example in conf/. */
  readonly example: string
  replacements(place: Place): readonly Replacement[]
  /** Returns the whole configuration, which has the example. */
  configuration(place: Place, example: string): string
  /** Returns the command that runs the proxy in the foreground with a configuration file. */
  command(place: Place, file: string): readonly [string, ...string[]]
}

const nginx: Kind = {
  example: 'nginx.example.conf',
  replacements: ({ port, plainPort, gatewayPort, certificate, key }) => [
    ['server 127.0.0.1:3000;', `server 127.0.0.1:${gatewayPort};`],
    ['/etc/ssl/certs/code.example.org.pem', certificate],
    ['/etc/ssl/private/code.example.org.key', key],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['listen [::]:443 ssl;', ''],
    ['listen [::]:80;', ''],
  ],
  configuration({ folder }, example) {
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
    // Without "user root", workers of a root nginx could not write here; other users ignore it.
    const main = `daemon off; pid ${folder}/pid; user root; events {}`
    return `${main} http { access_log off; ${paths} ${example} }`
  },
  command: ({ folder }, file) => [
    'nginx',
    '-p',
    folder,
    '-c',
    file,
    '-e',
    join(folder, 'error.log'),
  ],
}

/** Modules of the example, those that Debian always has, and mod_deflate, which Debian enables. */
const APACHE_MODULES = [
  'mpm_event',
  'authz_core',
  'filter',
  'deflate',
  'env',
  'headers',
  'proxy',
  'proxy_http',
  'reqtimeout',
  'rewrite',
  'ssl',
]

const apache: Kind = {
  example: 'apache.example.conf',
  replacements: ({ port, plainPort, gatewayPort, certificate, key }) => [
    ['http://127.0.0.1:3000/', `http://127.0.0.1:${gatewayPort}/`],
    ['/etc/ssl/certs/code.example.org.pem', certificate],
    ['/etc/ssl/private/code.example.org.key', key],
    ['<VirtualHost *:443>', `<VirtualHost *:${port}>`],
    ['<VirtualHost *:80>', `<VirtualHost *:${plainPort}>`],
  ],
  configuration: ({ folder, port, plainPort }, example) =>
    [
      ...APACHE_MODULES.map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      `ServerRoot ${folder}`,
      `DefaultRuntimeDir ${folder}`,
      `PidFile ${folder}/pid`,
      `ErrorLog ${folder}/error.log`,
      'ServerName code.example.org',
      // Apache refuses to run its workers as root; other users ignore it.
      'User www-data',
      'Group www-data',
      'AddOutputFilterByType DEFLATE text/html text/plain application/json',
      `Listen 127.0.0.1:${port}`,
      `Listen 127.0.0.1:${plainPort}`,
      example,
    ].join('\n'),
  command: (_, file) => ['apache2', '-D', 'FOREGROUND', '-f', file],
}

const caddy: Kind = {
  example: 'Caddyfile.example',
  replacements: ({ gatewayPort, certificate, key }) => [
    ['code.example.org {', 'code.example.org, 127.0.0.1 {'],
    ['127.0.0.1:3000', `127.0.0.1:${gatewayPort}`],
    [
      '#tls /etc/ssl/certs/code.example.org.pem /etc/ssl/private/code.example.org.key',
      `tls ${certificate} ${key}`,
    ],
  ],
  configuration: ({ folder, port, plainPort }, example) =>
    `{
      admin off
      skip_install_trust
      default_bind 127.0.0.1
      http_port ${plainPort}
      https_port ${port}
      storage file_system ${folder}
    }
    ${example}`,
  command: (_, file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
}

const haproxy: Kind = {
  example: 'haproxy.example.cfg',
  replacements: ({ port, plainPort, gatewayPort, both }) => [
    ['127.0.0.1:3000', `127.0.0.1:${gatewayPort}`],
    ['bind 0.0.0.0:80', `bind 127.0.0.1:${plainPort}`],
    [
      'bind 0.0.0.0:443 ssl crt /etc/haproxy/code.example.org.pem',
      `bind 127.0.0.1:${port} ssl crt ${both}`,
    ],
    ['bind [::]:80 v6only', ''],
    ['bind [::]:443 v6only ssl crt /etc/haproxy/code.example.org.pem', ''],
  ],
  configuration: (_, example) => `${example}\n`,
  command: (_, file) => ['haproxy', '-db', '-f', file],
}

const KINDS = { nginx, apache, caddy, haproxy }

export type ReverseProxyName = keyof typeof KINDS

export const REVERSE_PROXIES = Object.keys(KINDS) as readonly ReverseProxyName[]

/** Starts a proxy with its example, in which only ports, files and addresses are replaced. */
export async function startReverseProxy(
  t: Teardown,
  name: ReverseProxyName,
  options: ReverseProxyOptions,
): Promise<ReverseProxy> {
  const kind: Kind = KINDS[name]
  const { edit = (example) => example } = options
  const folder = await temporaryFolder(t)
  const certificate = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  makeCertificate({ certificate, key }, { names: ['IP:127.0.0.1', 'DNS:code.example.org'] })
  const place = { ...options, folder, certificate, key, both: join(folder, 'both.pem') }
  await writeFile(place.both, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')))
  const text = await readFile(new URL(`../../../conf/${kind.example}`, import.meta.url), 'utf8')
  const file = join(folder, 'proxy.conf')
  const example = edit(replaced(text, kind.replacements(place)))
  await writeFile(file, kind.configuration(place, example))
  const [program, ...args] = kind.command(place, file)
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: `${process.env['PATH']}:/usr/sbin`, HOME: folder },
  })
  let errorText = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errorText = (errorText + chunk.toString()).slice(-2_000)
  })
  const ended = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  if (!(await untilItListens(options.port, () => child.exitCode === null))) {
    throw new Error(`${name} did not start: ${errorText}`)
  }
  return { certificate }
}

/** Replaces each text, which must be in the example. */
function replaced(example: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((text, [found, replacement]) => {
    if (!text.includes(found)) throw new Error(`the example lacks "${found}"`)
    return text.replace(found, replacement)
  }, example)
}

/** Returns false if the program ends, or does not listen in time. */
async function untilItListens(port: number, isRunning: () => boolean): Promise<boolean> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  while (isRunning() && Date.now() < deadlineMs) {
    const socket = connect(port, '127.0.0.1')
    const isUp = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isUp) return true
    await sleep(50)
  }
  return false
}
