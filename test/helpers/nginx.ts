/** A real nginx in front of a server, with the example configuration of conf/ or a variant. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from './certificate.js'
import { temporaryFolder } from './temporary.js'

const EXAMPLE = new URL('../../../conf/nginx.example.conf', import.meta.url)
const STARTS_WITHIN_MS = 20_000

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface Nginx {
  /** File of the certificate for 127.0.0.1 and code.example.org, which clients must trust. */
  readonly certificate: string
}

export interface NginxOptions {
  /** Port with TLS. */
  readonly port: number
  /** Port without TLS, which redirects to the port with TLS. */
  readonly plainPort: number
  readonly gatewayPort: number
  /** Changes to the example, such as another location. */
  readonly edit?: (example: string) => string
}

/** Starts nginx with the example, in which only ports and file names are replaced. */
export async function startNginx(t: Teardown, options: NginxOptions): Promise<Nginx> {
  const { port, plainPort, gatewayPort, edit = (example) => example } = options
  const folder = await temporaryFolder(t)
  const certificate = join(folder, 'cert.pem')
  const names = ['IP:127.0.0.1', 'DNS:code.example.org']
  makeCertificate({ certificate, key: join(folder, 'key.pem') }, { names })
  const example = (await readFile(EXAMPLE, 'utf8'))
    .replace('server 127.0.0.1:3000;', `server 127.0.0.1:${gatewayPort};`)
    .replace('/etc/ssl/certs/code.example.org.pem', certificate)
    .replace('/etc/ssl/private/code.example.org.key', join(folder, 'key.pem'))
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace(/listen \[::\]:.*;/g, '')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
  // Without "user root", workers of a root nginx could not write here; other users ignore it.
  const main = `daemon off; pid ${folder}/pid; user root; events {}`
  const file = join(folder, 'nginx.conf')
  await writeFile(file, `${main} http { access_log off; ${paths} ${edit(example)} }`)
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
  })
  const ended = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await untilItListens(port, () => child.exitCode === null)
  return { certificate }
}

async function untilItListens(port: number, isRunning: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  while (isRunning() && Date.now() < deadlineMs) {
    const socket = connect(port, '127.0.0.1')
    const isUp = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isUp) return
    await sleep(50)
  }
  throw new Error('nginx did not start')
}
