/** `packages`: registry files and documents, compared with nginx serving files and verdaccio. */

import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { publishVersions } from './composer-packages.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { requestRepeatedly } from './load.js'
import { measureRanges, measureUploads, putBody } from './package-transfers.js'
import { createReplay, saveAnswer } from './replay.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import type { Table } from './table.js'
import { startVerdaccioPeer, type VerdaccioPeer } from './verdaccio-peer.js'

/** Servers under measurement. */
interface Setup extends BenchmarkContext {
  readonly gatehouse: Gatehouse
  readonly files: StaticPeer
  readonly verdaccio: VerdaccioPeer
}

export const PACKAGES_BENCHMARK: Benchmark = {
  name: 'packages',
  about: 'registry files and documents, compared with nginx serving files and verdaccio',
  async *run(stage) {
    const gatehouse = await startGatehouse(stage)
    const started: Array<{ stop(): Promise<void> }> = [gatehouse]
    try {
      const files = await startStaticPeer(stage)
      started.push(files)
      const verdaccio = await startVerdaccioPeer(stage)
      started.push(verdaccio)
      const setup = { ...stage, gatehouse, files, verdaccio }
      yield await measureFiles(setup)
      yield await measureRanges(setup, placeOf(RANGED_BYTES))
      yield await measureUploads(setup)
      yield await measureDocument(setup)
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

interface FilePlan {
  readonly label: string
  readonly bytes: number
  readonly clients: number
}

const FILES: readonly FilePlan[] = [
  { label: '1 KB, 16 clients', bytes: 1_000, clients: 16 },
  { label: '1 MB, 8 clients', bytes: 1_000_000, clients: 8 },
  { label: '100 MB, 2 clients', bytes: 100_000_000, clients: 2 },
]

/** Size of the file whose ranges are measured. */
const RANGED_BYTES = 100_000_000

/** Size from which a fixed number of responses is timed, because few finish in three seconds. */
const COUNTED_BYTES_MIN = 10_000_000

async function measureFiles(setup: Setup): Promise<Table> {
  const rows: Array<readonly [string, Comparison]> = []
  for (const plan of FILES) rows.push([plan.label, await measureFile(setup, plan)])
  return {
    title: 'Generic packages of a public owner, anonymous requests',
    peers: ['nginx + file'],
    unit: 'requests',
    rows,
  }
}

async function measureFile(setup: Setup, { bytes, clients }: FilePlan): Promise<Comparison> {
  const { gatehouse, files, signal } = setup
  const { name, path } = placeOf(bytes)
  const content = randomBytes(bytes)
  await writeFile(join(files.files, name), content)
  const headers = { Authorization: `token ${gatehouse.token}` }
  await putBody(gatehouse.url + path, { headers, body: content })
  const urls = [`${gatehouse.url}${path}`, `${files.url}/${name}`] as const
  for (const url of urls) await checkAnswer(url, content)
  const workOf = (url: string) =>
    bytes < COUNTED_BYTES_MIN
      ? () => requestRepeatedly(url, { headers: [], threads: 1, connections: clients, signal })
      : createReplay({ url, headers: [] }, { clients, answerBytes: bytes, signal })
  return compare(sideOf(gatehouse, workOf(urls[0])), sideOf(files, workOf(urls[1])))
}

/** Returns the name of a file of that size on the peer, and its path in the registry. */
function placeOf(bytes: number) {
  const name = `file-${bytes}`
  return { name, path: `/api/packages/${OWNER}/generic/bench/1.0/${name}` }
}

const VERSIONS = 1_000
const PACKAGE = 'bench/library'

async function measureDocument(setup: Setup): Promise<Table> {
  const { gatehouse, files, verdaccio, signal } = setup
  const versions = await publishVersions(gatehouse, PACKAGE, VERSIONS)
  const own = `${gatehouse.url}/api/packages/${OWNER}/composer/p2/${PACKAGE}.json`
  const file = join(files.files, 'document')
  const bytes = await saveAnswer({ url: own, headers: [] }, { file, signal })
  await verdaccio.addPackage('bench', versions)
  const other = `${verdaccio.url}/bench`
  for (const url of [own, other]) await checkVersions(url, versions)
  const workOf = (url: string) => () =>
    requestRepeatedly(url, { headers: [], threads: 1, connections: 8, signal })
  const comparison = await compare(
    sideOf(gatehouse, workOf(own)),
    sideOf(files, workOf(`${files.url}/document`)),
    sideOf(verdaccio, workOf(other)),
  )
  return {
    title: `A document of ${VERSIONS} versions: composer's, and npm's of verdaccio (one process)`,
    peers: ['nginx + file', 'verdaccio'],
    unit: 'requests',
    rows: [[`${Math.round(bytes / 1_000)} KB, 8 clients`, comparison]],
  }
}

async function checkVersions(url: string, versions: readonly string[]): Promise<void> {
  const response = await fetch(url)
  const text = await response.text()
  const missing = versions.find((version) => !text.includes(`"${version}"`))
  if (!response.ok || missing !== undefined) {
    throw new Error(`${url} returned ${response.status}, without version ${missing}`)
  }
}

/** Throws if the response is wrong, because the compared work would then differ. */
async function checkAnswer(url: string, content: Uint8Array): Promise<void> {
  const response = await fetch(url)
  const answer = new Uint8Array(await response.arrayBuffer())
  const digests = [answer, content].map((part) => createHash('sha256').update(part).digest('hex'))
  if (response.status !== 200 || digests[0] !== digests[1]) {
    throw new Error(`${url} returned other content: ${response.status}, ${answer.length} bytes`)
  }
}
