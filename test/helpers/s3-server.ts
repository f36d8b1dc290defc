/** A real S3 server for tests: OpenStack Swift, which is strict about signatures and ranges. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { openSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { S3mini } from 's3mini'
import { asBlobLocation, type S3Location } from '../../conf/blob-location.js'
import { freePort } from './free-port.js'

export const S3_SECRET = 'testing+ü/@:'

const STARTS_WITHIN_MS = 120_000

/** Variable with the port of the server that all processes of a run share. */
export const S3_VARIABLE = 'TEST_S3_PORT'

/** A server that this process does not control. */
export interface S3Client {
  readonly port: number
  /** Creates an empty bucket and returns its URL in the form of the setting blobs.url. */
  createBucket(): Promise<string>
  /** Lists the objects and the unfinished multipart uploads of a bucket. */
  list(url: string): Promise<{ objects: readonly string[]; uploads: readonly string[] }>
}

export interface S3Server extends S3Client {
  /** Stops all its processes and removes its folder. */
  remove(): Promise<void>
}

/** Creates and starts a server. Throws if Debian's swift packages or memcached are missing. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-swift-'))
  const children: ChildProcess[] = []
  // The process may exit before the teardown.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const port = await configure(folder)
  const log = openSync(join(folder, 'log'), 'a')
  for (const [program = '', ...words] of await commandsIn(folder)) {
    children.push(spawn(program, words, { stdio: ['ignore', log, log], cwd: folder }))
  }
  await untilItAnswers(port, children).catch(async (error) => {
    throw new Error(`${error}: ${await readFile(join(folder, 'log'), 'utf8')}`)
  })
  return {
    ...connectS3(port),
    async remove() {
      await Promise.all(children.map(end))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns a client of the server on a port, with the account that `startS3Server` creates. */
export function connectS3(port: number): S3Client {
  return {
    port,
    async createBucket() {
      const url = urlOf(port, `bucket-${randomBytes(6).toString('hex')}`)
      if (!(await clientOf(url).createBucket())) throw new Error('the bucket was not created')
      return url
    },
    async list(url) {
      const objects = (await clientOf(url).listObjects()) ?? []
      const uploads = JSON.stringify(await clientOf(url).listMultipartUploads())
      return {
        objects: objects.map(({ Key }) => Key),
        uploads: uploads.match(/(?<="UploadId":")[^"]+/g) ?? [],
      }
    },
  }
}

const urlOf = (port: number, bucket: string) =>
  `s3://test%3Atester:${encodeURIComponent(S3_SECRET)}@127.0.0.1:${port}/${bucket}?tls=false`

/** Parses a URL of this server. */
export function s3LocationOf(url: string): S3Location {
  const location = asBlobLocation(url)
  if (location.kind !== 's3') throw new Error('the location is not in S3')
  return location
}

function clientOf(url: string): S3mini {
  const { origin, bucket, region, accessKey, secretKey } = s3LocationOf(url)
  const endpoint = `${origin}/${bucket}`
  return new S3mini({ accessKeyId: accessKey, secretAccessKey: secretKey, endpoint, region })
}

const PARTS = ['account', 'container', 'object'] as const

/** Writes the configuration of all servers; returns the port of the one with the S3 API. */
async function configure(folder: string): Promise<number> {
  await mkdir(join(folder, 'devices', 'one'), { recursive: true })
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  await write('swift.conf', SWIFT)
  const common = (port: number) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${userInfo().username}
workers = 0
swift_dir = ${folder}
devices = ${folder}/devices
mount_check = false
log_address = ${folder}/no-syslog
`
  const rings: string[] = []
  for (const part of PARTS) {
    const port = await freePort()
    rings.push(part, String(port))
    await write(
      `${part}.conf`,
      `${common(port)}[pipeline:main]\npipeline = ${part}-server\n[app:${part}-server]\nuse = egg:swift#${part}\n`,
    )
  }
  // Debian's packages are for this Python, which may not be the first one on the path.
  execFileSync('/usr/bin/python3', ['-c', RINGS, folder, ...rings])
  const cachePort = String(await freePort())
  await write('cache', cachePort)
  const port = await freePort()
  await write('proxy.conf', `${common(port)}${PROXY.replace('CACHE', cachePort)}`)
  return port
}

const SWIFT = `[swift-hash]
swift_hash_path_suffix = gatehouse
[storage-policy:0]
name = one
default = yes
`

const RINGS = `import sys
from swift.common.ring import RingBuilder
folder, *rings = sys.argv[1:]
for name, port in zip(rings[::2], rings[1::2]):
    builder = RingBuilder(0, 1, 0)
    device = {'region': 1, 'zone': 1, 'device': 'one', 'weight': 1}
    builder.add_dev({**device, 'ip': '127.0.0.1', 'port': int(port)})
    builder.rebalance()
    builder.get_ring().save('%s/%s.ring.gz' % (folder, name))
`

const PROXY = `[pipeline:main]
pipeline = catch_errors gatekeeper cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# The first requests may arrive before the other servers listen; keep using these servers.
error_suppression_limit = 1000000
# The defaults, 0.5 s and 10 s, are too short on a busy machine.
conn_timeout = 60
node_timeout = 60
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:CACHE
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${S3_SECRET} .admin
[filter:slo]
use = egg:swift#slo
`

async function commandsIn(folder: string): Promise<readonly (readonly string[])[]> {
  const cachePort = await readFile(join(folder, 'cache'), 'utf8')
  const cache = ['-u', userInfo().username, '-l', '127.0.0.1', '-p', cachePort, '-U', '0']
  const servers = [...PARTS, 'proxy'].map((part) => [
    `swift-${part}-server`,
    join(folder, `${part}.conf`),
    '-v',
  ])
  return [['memcached', ...cache, '-m', '16'], ...servers]
}

async function untilItAnswers(port: number, children: readonly ChildProcess[]): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  for (let tries = 1; ; tries += 1) {
    const ended = children.find((child) => child.exitCode !== null)
    if (ended !== undefined) throw new Error(`${ended.spawnfile} ended`)
    const answer = await storeObject(urlOf(port, `first-${tries}`)).catch((error: unknown) => error)
    if (answer === true) return
    if (Date.now() > deadlineMs) throw new Error(`Swift did not start: ${answer}`)
    await sleep(50)
  }
}

/** Creates a bucket and an object, which needs all four servers. */
async function storeObject(url: string): Promise<boolean> {
  const client = clientOf(url)
  return (await client.createBucket()) && (await client.putObject('first', 'text')).ok
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
