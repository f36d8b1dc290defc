/** `index`: time from a new .deb to a signed index with it, compared with aptly and reprepro. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { gunzipSync } from 'node:zlib'
import { startAptlyPeer } from './aptly-peer.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { compareRounds, type Side, sideOf } from './compare.js'
import { type DebFile, writeDebs } from './deb-files.js'
import type { DebianSide } from './debian-side.js'
import { startGatehouse, WORKERS } from './gatehouse.js'
import { asDebianSide } from './gatehouse-debian.js'
import { startRepreproPeer } from './reprepro-peer.js'
import type { Table } from './table.js'

const ROUNDS = 5

export const INDEX_BENCHMARK: Benchmark = {
  name: 'index',
  about: 'time from a new .deb to an index with it, compared with aptly and reprepro',
  sizes: [100, 5_000, 50_000],
  async *run({ folder, signal }, sizes) {
    for (const size of sizes) {
      const own = join(folder, String(size))
      await mkdir(own)
      yield await measureAt(size, { folder: own, signal })
      await rm(own, { recursive: true })
    }
  },
}

/** Start functions of the sides, the product first. */
const STARTS: ReadonlyArray<(stage: BenchmarkContext) => Promise<DebianSide>> = [
  async (stage) => asDebianSide(await startGatehouse(stage)),
  startAptlyPeer,
  startRepreproPeer,
]

async function measureAt(size: number, stage: BenchmarkContext): Promise<Table> {
  const filled = join(stage.folder, 'filled')
  const debs = await writeDebs(filled, { first: 0, count: size })
  // The first package is for the warm-up round.
  const range = { first: size, count: ROUNDS + 1 }
  const added = await writeDebs(join(stage.folder, 'added'), range)
  const sides: DebianSide[] = []
  const notes: string[] = []
  try {
    for (const start of STARTS) {
      const side = await start(stage)
      sides.push(side)
      const startedAt = performance.now()
      await side.fill(filled, debs)
      const seconds = (performance.now() - startedAt) / 1_000
      notes.push(`${side.name}: filled in ${seconds.toFixed(1)} s`)
    }
    const [product, ...peers] = sides.map((side) => addOneByOne(side, { size, added }))
    if (product === undefined) throw new Error('no side was started')
    const comparison = await compareRounds(ROUNDS, product, ...peers)
    const peaks = (await sides[0]?.cpu.memoryPeaks()) ?? []
    const megabytes = peaks.map((bytes) => Math.round(bytes / 1_000_000))
    notes.push(`peak memory of each gatehouse process, in MB: ${megabytes.join(', ') || '?'}`)
    return {
      title: `A .deb added to ${size}, until Packages.gz lists it (${WORKERS} workers, SQLite)`,
      peers: sides.slice(1).map(({ name }) => name),
      unit: 'indexes',
      shows: 'time',
      rows: [[`${size} packages`, comparison]],
      notes,
    }
  } finally {
    for (const side of sides.reverse()) await side.stop()
  }
}

interface Plan {
  /** Number of packages in the repository before the first round. */
  readonly size: number
  /** Packages to add, one for each round. */
  readonly added: readonly DebFile[]
}

function addOneByOne(side: DebianSide, { size, added }: Plan): Side {
  let round = 0
  return sideOf(side, async () => {
    const deb = added[round]
    if (deb === undefined) throw new Error(`there is no package for round ${round + 1}`)
    round += 1
    const startedAt = performance.now()
    const list = await side.add(deb)
    const seconds = (performance.now() - startedAt) / 1_000
    checkList(list, { deb, count: size + round, name: side.name })
    return { operations: 1, seconds }
  })
}

interface Expected {
  readonly deb: DebFile
  /** Total number of packages. */
  readonly count: number
  readonly name: string
}

/** Throws if the list is wrong, because the compared work would then differ. */
function checkList(list: Buffer, { deb, count, name }: Expected): void {
  const paragraphs = gunzipSync(list).toString().trim().split('\n\n')
  const { packageName, version } = deb
  const own = paragraphs.find((text) => text.startsWith(`Package: ${packageName}\n`))
  if (paragraphs.length !== count || !own?.includes(`\nVersion: ${version}\n`)) {
    throw new Error(
      `${name} lists ${paragraphs.length} of ${count} packages, and for the new one: ${own}`,
    )
  }
}
