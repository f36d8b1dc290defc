/** `sendfile`: large stored answers behind nginx, sent by nginx or by the gateway. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { type Gatehouse, startGatehouse } from './gatehouse.js'
import { createReplay, type Replay, saveAnswer } from './replay.js'
import type { MeasuredServer } from './server.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import { both, PREFIX, ROWS, type Row, recordStoredClone, startFront } from './stored-clones.js'

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
      const sending = await start(
        startFront(stage, gatehouse, { name: 'sending', isSending: true }),
      )
      const copying = await start(
        startFront(stage, gatehouse, { name: 'copying', isSending: false }),
      )
      const files = await start(startStaticPeer(stage))
      yield await measure({ ...stage, gatehouse, alone, sending, copying, files })
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

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
  row: Row,
): Promise<Comparison> {
  const replayOf = await recordStoredClone([gatehouse, alone], row, { folder, signal })
  const [name, { clients }] = [`random-${row.bytes}`, row]
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
