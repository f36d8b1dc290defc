/** `tls`: clones over HTTPS by the gateway itself and through nginx, beside nginx and a file. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TlsFiles } from '../../conf/settings.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { type Gatehouse, startGatehouse, startSecure } from './gatehouse.js'
import { createReplay, saveAnswer } from './replay.js'
import type { MeasuredServer } from './server.js'
import { runProgram } from './sshd.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import { both, PREFIX, ROWS, type Row, recordStoredClone, startFront } from './stored-clones.js'

/** Time after an answer in which the gateway stores it. */
const STORED_WITHIN_MS = 2_000

const WARM_UP_ROUNDS = 3

interface Setup extends BenchmarkContext {
  readonly gatehouse: Gatehouse
  /** A gateway of the same data that serves HTTPS itself. */
  readonly secure: MeasuredServer
  /** nginx with TLS in front of the gateway; nginx sends the files. */
  readonly front: MeasuredServer
  readonly files: StaticPeer
}

export const TLS_BENCHMARK: Benchmark = {
  name: 'tls',
  about: 'clones over HTTPS by the gateway and through nginx, compared with nginx and a file',
  async *run(stage) {
    const tls = await makeCertificate(stage)
    const environment = { GATEHOUSE_HTTP_SENDFILE: `nginx:${PREFIX}` }
    const gatehouse = await startGatehouse(stage, { environment })
    const started: Array<{ stop(): Promise<void> }> = [gatehouse]
    const start = async <S extends MeasuredServer>(starting: Promise<S>): Promise<S> => {
      const server = await starting
      started.push(server)
      return server
    }
    try {
      const secure = await start(startSecure(stage, gatehouse, tls))
      const front = await start(
        startFront(stage, gatehouse, { name: 'front', isSending: true, tls }),
      )
      const files = await start(startStaticPeer(stage, tls))
      const setup = { ...stage, gatehouse, secure, front, files }
      const rows: Array<readonly [string, Comparison]> = []
      for (const row of ROWS) rows.push([row.label, await measureRow(setup, row)])
      yield {
        title: 'Incompressible clones from the pack cache over HTTPS',
        peers: ['nginx + file', 'nginx + gateway'],
        unit: 'requests',
        rows,
      }
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

async function measureRow(
  { gatehouse, secure, front, files, folder, signal }: Setup,
  row: Row,
): Promise<Comparison> {
  const replayOf = await recordStoredClone([gatehouse], row, { folder, signal })
  const [name, { clients }] = [`random-${row.bytes}`, row]
  const file = join(files.files, name)
  const answerBytes = await saveAnswer(replayOf(gatehouse.url), { file, signal })
  await sleep(STORED_WITHIN_MS)
  const workOf = (url: string) => createReplay(replayOf(url), { clients, answerBytes, signal })
  const fileOf = { url: `${files.url}/${name}`, headers: [] }
  const product = sideOf(secure, workOf(secure.url))
  const peers = [
    sideOf(files, createReplay(fileOf, { clients, answerBytes, signal })),
    both(gatehouse, sideOf(front, workOf(front.url))),
  ]
  // The gateway is compiled to machine code as it runs.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    for (const side of [product, ...peers]) await side.work()
  }
  return await compare(product, ...peers)
}

/** Makes a certificate that signs itself, with an ECDSA key as most sites have. */
async function makeCertificate({ folder }: BenchmarkContext): Promise<TlsFiles> {
  const tls = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') }
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  await runProgram(
    'openssl',
    'req',
    '-x509',
    ...kind,
    ...names,
    '-keyout',
    tls.key,
    '-out',
    tls.certificate,
  )
  return tls
}
