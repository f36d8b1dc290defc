/** Clones from the pack cache through nginx, of which most bytes are of one incompressible file. */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TlsFiles } from '../../conf/settings.js'
import type { BenchmarkContext } from './benchmark.js'
import type { Side } from './compare.js'
import { type Gatehouse, OWNER } from './gatehouse.js'
import { startNginx } from './nginx.js'
import { recordClone } from './recorder.js'
import type { Replay } from './replay.js'
import { createCpuGroup, freePort, type MeasuredServer } from './server.js'
import { feedGitAsUser } from './user-git.js'

export const PREFIX = '/-/internal/'

interface FrontOptions {
  readonly name: string
  /** Adds the header that makes the gateway let nginx send the file (`http.sendfile`). */
  readonly isSending: boolean
  readonly tls?: TlsFiles | undefined
}

/** Starts nginx with the directives of conf/nginx.example.conf that matter here. */
export async function startFront(
  { folder, signal }: BenchmarkContext,
  gatehouse: Gatehouse,
  { name, isSending, tls }: FrontOptions,
): Promise<MeasuredServer> {
  const port = await freePort()
  const cpu = await createCpuGroup(name)
  const nginx = await startNginx(cpu, {
    folder: join(folder, name),
    port,
    signal,
    tls,
    location: [
      'proxy_pass http://gatehouse',
      'proxy_http_version 1.1',
      'proxy_set_header Connection ""',
      'proxy_buffering off',
      'proxy_buffer_size 256k',
      'proxy_buffers 4 256k',
      'proxy_busy_buffers_size 512k',
      ...(isSending ? ['proxy_set_header X-Forwarded-For $remote_addr'] : []),
    ],
    more: {
      http: `upstream gatehouse { server ${new URL(gatehouse.url).host}; keepalive 32; keepalive_timeout 5s; }`,
      server: `location ${PREFIX} { internal; alias ${gatehouse.dataDir}/; etag off; }`,
    },
  })
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    cpu,
    async stop() {
      await nginx.stop()
      await cpu.remove()
    },
  }
}

export const ROWS = [
  { label: '200 KB', bytes: 200_000, clients: 8 },
  { label: '1 MB', bytes: 1_000_000, clients: 8 },
  { label: '5 MB', bytes: 5_000_000, clients: 4 },
  { label: '75 MB', bytes: 75_000_000, clients: 1 },
] as const

export type Row = (typeof ROWS)[number]

/**
 * Makes a repository with incompressible content on the servers. Returns a function that returns
 * the request of its clone for the URL of a server.
 */
export async function recordStoredClone(
  servers: readonly [Gatehouse, ...Gatehouse[]],
  { bytes }: Row,
  { folder, signal }: BenchmarkContext,
): Promise<(url: string) => Replay> {
  const name = `random-${bytes}`
  const text = randomBytes(bytes).toString('base64')
  for (const server of servers) {
    const { path } = await server.makeRepository(name)
    await addFile(path, text, signal)
  }
  const remote = `${OWNER}/${name}.git`
  const { fetch } = await recordClone(`${servers[0].url}/${remote}`, { args: [], folder, signal })
  const bodyFile = join(folder, `${name}.body`)
  await writeFile(bodyFile, fetch.body ?? '')
  return (url) => ({ url: `${url}/${remote}/${fetch.suffix}`, headers: fetch.headers, bodyFile })
}

/** Returns the side with the CPU time of the gateway added. */
export function both({ cpu }: Pick<MeasuredServer, 'cpu'>, front: Side): Side {
  return {
    ...front,
    async cpuMs() {
      const [own, other] = [await cpu.cpuMs(), await front.cpuMs()]
      return own === undefined || other === undefined ? undefined : own + other
    },
  }
}

/** Commits a file of base64, whose pack has three quarters of its bytes. */
async function addFile(path: string, text: string, signal: AbortSignal): Promise<void> {
  const input = [
    'commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 0\n',
    `M 100644 inline file\ndata ${text.length}\n${text}\n`,
  ]
  await feedGitAsUser(['fast-import', '--quiet'], { cwd: path, signal, input })
}
