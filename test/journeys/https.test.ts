/** HTTPS that the gateway serves itself: git, API, pages, uploads, redirects, new certificates. */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import t from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { makeCertificate } from '../helpers/certificate.js'
import { freePort } from '../helpers/free-port.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { faultsOnDisk } from '../helpers/repositories.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { cloneInto, incompressible, newWorkingCopy } from '../helpers/working-copy.js'

const LARGE_BYTES = 2_000_000
const folder = await temporaryFolder(t)
const certificate = join(folder, 'cert.pem')
const tls = { certificate, key: join(folder, 'key.pem') }
const NAMES = { names: ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1'] }
makeCertificate(tls, NAMES)
const notified = join(folder, 'notify.sock')
// Node.js has no datagram sockets of Unix.
const RECEIVE = `use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM,
  Local => $ARGV[0]) or die; $| = 1; print "open\n"; $s->recv(my $text, 999); print $text`
const receiver = spawn('perl', ['-e', RECEIVE, notified])
t.teardown(() => receiver.kill('SIGKILL'))
const received = receiver.stdout.setEncoding('utf8')[Symbol.asyncIterator]()
await received.next()
const [port, plainPort] = [await freePort(), await freePort()]
const url = `https://127.0.0.1:${port}`
const gatehouse = await startGatehouse(t, {
  workers: 1,
  environment: {
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port},[::1]:${port}`,
    GATEHOUSE_HTTP_REDIRECT_LISTEN: `127.0.0.1:${plainPort}`,
    GATEHOUSE_HTTP_BASE_URL: url,
    GATEHOUSE_HTTP_TLS_CERTIFICATE: tls.certificate,
    GATEHOUSE_HTTP_TLS_KEY: tls.key,
    NOTIFY_SOCKET: notified,
  },
})
const ada = await gatehouse.addUser('ada')

async function curl(...args: readonly string[]): Promise<string> {
  const options = ['--silent', '--show-error', '--cacert', certificate]
  const { output } = await runToEnd('curl', [...options, ...args], {
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 60_000,
    outputBytesMax: 2 * LARGE_BYTES,
  })
  return output.toString('latin1')
}

/** Returns the certificate that the gateway presents to a new connection. */
async function presented(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const { fingerprint256 }: PeerCertificate = socket.getPeerCertificate()
      socket.destroy()
      resolve(fingerprint256)
    })
    socket.on('error', reject)
  })
}

t.test('systemd is notified when the server is ready', async (t) => {
  t.match((await received.next()).value, /^READY=1$/m)
})

t.test('faults that do not prevent the start are logged after it', async (t) => {
  const isLogged = async () => gatehouse.log().includes('"check":"address"')
  t.ok(await until(isLogged, Boolean, 20_000))
  const line = gatehouse
    .log()
    .split('\n')
    .find((each) => each.includes('"check":"address"'))
  const refused = `clients refuse the certificate of 127.0.0.1:${port} (DEPTH_ZERO_SELF_SIGNED_CERT)`
  t.ok(line?.includes(refused), String(line))
})

t.test('of TLS 1.2 only ciphers with authenticated encryption are accepted', async (t) => {
  const cipherOf = (ciphers: string) =>
    new Promise<string>((resolve) => {
      const options = { ciphers, maxVersion: 'TLSv1.2', rejectUnauthorized: false } as const
      const socket = connect({ port, host: '127.0.0.1', ...options }, () => {
        resolve(socket.getCipher().name)
        socket.destroy()
      })
      socket.on('error', () => resolve('refused'))
    })
  for (const cipher of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
    t.equal(await cipherOf(cipher), cipher)
  }
  t.equal(await cipherOf('ECDHE-ECDSA-AES128-SHA'), 'refused')
})

t.test('a repository is created, pushed and cloned over IPv4 and IPv6', async (t) => {
  const auth = ['--header', `Authorization: token ${ada.token}`]
  const json = ['--header', 'Content-Type: application/json', '--data', '{"name":"work"}']
  const made = JSON.parse(await curl(...auth, ...json, `${url}/api/v1/user/repos`))
  t.equal(made.clone_url, `${url}/ada/work.git`)
  const source = await newWorkingCopy(t)
  await source.git('config', 'http.sslCAInfo', certificate)
  const commit = await source.commit('large', incompressible(LARGE_BYTES))
  await source.git(
    'push',
    '--quiet',
    `${url.replace('//', `//ada:${ada.token}@`)}/ada/work.git`,
    'main',
  )
  for (const host of ['127.0.0.1', '[::1]']) {
    const address = `https://${host}:${port}/ada/work.git`
    const copy = await cloneInto(t, address, [`--config=http.sslCAInfo=${certificate}`])
    t.equal(await copy.git('rev-parse', 'HEAD'), commit, host)
  }
  t.same(await faultsOnDisk(gatehouse), [])
})

t.test('a package is uploaded and downloaded unchanged, and pages are served', async (t) => {
  const bytes = Buffer.from(incompressible(LARGE_BYTES))
  const file = join(folder, 'file')
  await writeFile(file, bytes)
  const address = `${url}/api/packages/ada/generic/tool/1.0/file`
  const code = ['--output', '/dev/null', '--write-out', '%{http_code}']
  t.equal(await curl(...code, '--user', `ada:${ada.token}`, '--upload-file', file, address), '201')
  t.ok(Buffer.from(await curl(address), 'latin1').equals(bytes))
  t.match(await curl('--include', `${url}/user/login`), /^HTTP\/1\.1 200 OK.*<form/s)
})

t.test('HTTP is redirected to the base URL, and no HTTP is answered on the port', async (t) => {
  const path = '/ada/work.git/info/refs?service=git-upload-pack'
  const head = await curl('--head', `http://127.0.0.1:${plainPort}${path}`)
  t.match(head, /^HTTP\/1\.1 308 Permanent Redirect\r\n/)
  t.ok(head.includes(`\r\nLocation: ${url}${path}\r\n`), head)
  t.match(await curl('--location', `http://127.0.0.1:${plainPort}${path}`), /refs\/heads\/main/)
  t.equal(await curl(`http://127.0.0.1:${port}/livez`), '')
})

t.test('SIGHUP reads a new certificate; one without its key is refused and logged', async (t) => {
  const first = await presented()
  makeCertificate(tls, NAMES)
  t.equal(await presented(), first)
  await gatehouse.reload()
  const second = await until(presented, (now) => now !== first, 10_000)
  t.not(second, first)
  const key = readFileSync(tls.key)
  makeCertificate(tls, NAMES)
  await writeFile(tls.key, key)
  process.kill(gatehouse.pid, 'SIGHUP')
  const isRefused = async () => gatehouse.log().includes('workers and settings are unchanged')
  t.ok(await until(isRefused, Boolean, 20_000))
  t.match(gatehouse.log(), /key\.pem \(http\.tls_key\) does not belong to the first certificate/)
  t.equal(await presented(), second)
  await rm(tls.key)
})

t.test('another site is not started on the port', async (t) => {
  const other = startGatehouse(t, {
    workers: 1,
    environment: { GATEHOUSE_HTTP_LISTEN: `[::1]:${await freePort()},127.0.0.1:${port}` },
  })
  await t.rejects(other, {
    message: `a Gatehouse with another data folder listens on port ${port}`,
  })
})
