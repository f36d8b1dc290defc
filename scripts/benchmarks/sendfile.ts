/** `sendfile`: large stored answers behind nginx, sent by nginx or by the gateway. */

import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, type Side, sideOf } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { startNginx } from './nginx.js'
import { recordClone } from './recorder.js'
import { createReplay, type Replay, saveAnswer } from './replay.js'
import { createCpuGroup, freePort, type MeasuredServer } from './server.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import { feedGitAsUser } from './user-git.js'

const PREFIX = '/-/internal/'
/** Time after an answer in which the gateway stores it. */
const STORED_WITHIN_MS = 2_000

const WARM_UP_ROUNDS = 3

/** Servers under measurement. */
interface Setup extends BenchmarkContext {
  readonly gatehouse: Gatehouse
  /** A gateway whose clients use no proxy. */
  readonly alone: Gatehouse
  /** nginx in front of the gateway, with the header that names the client. */
  readonly sending: MeasuredServer
  /** nginx in front of the gateway as a proxy that is not known to forward. */
  readonly copying: MeasuredServer
  readonly files: StaticPeer
}

export const SENDFILE_BENCHMARK: Benchmark = {
  name: 'sendfile',
  about: 'large answers behind nginx, sent by nginx and by the gateway, and nginx with a file',
  async *run(stage) {
    const environment = { GATEHOUSE_HTTP_SENDFILE: `nginx:${PREFIX}` }
    const gatehouse = await startGatehouse(stage, { environment })
    const started: Array<{ stop(): Promise<void> }> = [gatehouse]
    const folder = join(stage.folder, 'alone')
    const start = async <S extends MeasuredServer>(starting: Promise<S>): Promise<S> => {
      const server = await starting
      started.push(server)
      return server
    }
    try {
      await mkdir(folder)
      const alone = await start(startGatehouse({ ...stage, folder }))
      const sending = await start(startFront(stage, gatehouse, 'sending'))
      const copying = await start(startFront(stage, gatehouse, 'copying'))
      const files = await start(startStaticPeer(stage))
      yield await measure({ ...stage, gatehouse, alone, sending, copying, files })
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

/** Starts nginx with the directives of conf/nginx.example.conf that matter here, without TLS. */
async function startFront(
  { folder, signal }: BenchmarkContext,
  gatehouse: Gatehouse,
  name: 'sending' | 'copying',
): Promise<MeasuredServer> {
  const port = await freePort()
  const cpu = await createCpuGroup(name)
  const nginx = await startNginx(cpu, {
    folder: join(folder, name),
    port,
    signal,
    location: [
      'proxy_pass http://gatehouse',
      'proxy_http_version 1.1',
      'proxy_set_header Connection ""',
      'proxy_buffering off',
      'proxy_buffer_size 256k',
      'proxy_buffers 4 256k',
      'proxy_busy_buffers_size 512k',
      ...(name === 'sending' ? ['proxy_set_header X-Forwarded-For $remote_addr'] : []),
    ],
    more: {
      http: `upstream gatehouse { server ${new URL(gatehouse.url).host}; keepalive 32; keepalive_timeout 5s; }`,
      server: `location ${PREFIX} { internal; alias ${gatehouse.dataDir}/; etag off; }`,
    },
  })
  return {
    url: `http://127.0.0.1:${port}`,
    cpu,
    async stop() {
      await nginx.stop()
      await cpu.remove()
    },
  }
}

const ROWS = [
  { label: '200 KB', bytes: 200_000, clients: 8 },
  { label: '1 MB', bytes: 1_000_000, clients: 8 },
  { label: '5 MB', bytes: 5_000_000, clients: 4 },
  { label: '75 MB', bytes: 75_000_000, clients: 1 },
] as const

async function measure(setup: Setup) {
  const rows: Array<readonly [string, Comparison]> = []
  for (const row of ROWS) rows.push([row.label, await measureRow(setup, row)])
  return {
    title: 'Incompressible clones from the pack cache, sent by nginx (http.sendfile)',
    peers: ['nginx + file', 'copied by nginx', 'gateway alone'],
    unit: 'requests',
    rows,
  }
}

async function measureRow(
  { gatehouse, alone, sending, copying, files, folder, signal }: Setup,
  { bytes, clients }: (typeof ROWS)[number],
): Promise<Comparison> {
  const name = `random-${bytes}`
  const text = randomBytes(bytes).toString('base64')
  for (const server of [gatehouse, alone]) {
    const { path } = await server.makeRepository(name)
    await addFile(path, text, signal)
  }
  const remote = `${OWNER}/${name}.git`
  const options = { args: [], folder, signal }
  const { fetch } = await recordClone(`${gatehouse.url}/${remote}`, options)
  const bodyFile = join(folder, `${name}.body`)
  await writeFile(bodyFile, fetch.body ?? '')
  const replayOf = (url: string): Replay => ({
    url: `${url}/${remote}/${fetch.suffix}`,
    headers: fetch.headers,
    bodyFile,
  })
  const file = join(files.files, name)
  const answerBytes = await saveAnswer(replayOf(gatehouse.url), { file, signal })
  await saveAnswer(replayOf(alone.url), { file, signal })
  await sleep(STORED_WITHIN_MS)
  const workOf = (replay: Replay) => createReplay(replay, { clients, answerBytes, signal })
  const product = both(gatehouse, sideOf(sending, workOf(replayOf(sending.url))))
  const peers = [
    sideOf(files, workOf({ url: `${files.url}/${name}`, headers: [] })),
    both(gatehouse, sideOf(copying, workOf(replayOf(copying.url)))),
    sideOf(alone, workOf(replayOf(alone.url))),
  ]
  // The gateway is compiled to machine code as it runs.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    for (const side of [product, ...peers]) await side.work()
  }
  return await compare(product, ...peers)
}

/** Returns the side with the CPU time of the gateway added. */
function both({ cpu }: Gatehouse, front: Side): Side {
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
