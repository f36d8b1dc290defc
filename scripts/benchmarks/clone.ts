/** `clone`: requests of clones, compared with nginx and git, and with nginx serving files. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, compareRounds, type RoundResult, sideOf } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { type GitPeer, startGitPeer } from './git-peer.js'
import { cloneRepeatedly, requestRepeatedly } from './load.js'
import { type RecordedClone, type RecordedRequest, recordClone } from './recorder.js'
import { createReplay, type Replay, saveAnswer } from './replay.js'
import {
  addCommit,
  fillRepository,
  LARGE_SHAPE,
  MEDIUM_SHAPE,
  PROJECT_FOLDER,
  type Shape,
  SMALL_SHAPE,
} from './repositories.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import type { Table } from './table.js'

/** Servers under measurement. */
interface Setup extends BenchmarkContext {
  readonly gatehouse: Gatehouse
  readonly git: GitPeer
  readonly files: StaticPeer
}

export const CLONE_BENCHMARK: Benchmark = {
  name: 'clone',
  about: 'requests of clones, compared with nginx and git-http-backend, and nginx with a file',
  async *run(stage) {
    const gatehouse = await startGatehouse(stage)
    const started: Array<{ stop(): Promise<void> }> = [gatehouse]
    try {
      const git = await startGitPeer(stage)
      started.push(git)
      const files = await startStaticPeer(stage)
      started.push(files)
      yield* measure({ ...stage, gatehouse, git, files })
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

async function* measure(setup: Setup): AsyncGenerator<Table> {
  const { gatehouse, git } = setup
  const project = await gatehouse.addRepository('project', PROJECT_FOLDER)
  await git.addRepository('project', project.path)
  yield await measureRequests(setup, 'project', {
    title: 'This project',
    rows: [
      { label: 'info/refs', part: 'references', args: [], clients: 8 },
      { label: 'ls-refs', part: 'listing', args: [], clients: 8 },
      { label: 'full', part: 'fetch', args: [], clients: 8 },
    ],
  })
  for (const { name, shape, ...plan } of TEXTS) {
    const { path } = await gatehouse.makeRepository(name)
    await fillRepository(path, shape, setup.signal)
    await git.addRepository(name, path)
    yield await measureRequests(setup, name, plan)
    if (shape === SMALL_SHAPE) {
      yield await measureClones(setup, name)
      yield await measureColdClones(setup, { name, path })
    }
  }
}

interface RowPlan {
  readonly label: string
  readonly part: keyof RecordedClone
  /** Arguments of the clone that is recorded. */
  readonly args: readonly string[]
  readonly clients: number
}

interface Plan {
  readonly title: string
  readonly rows: readonly RowPlan[]
}

const FULL = { label: 'full', part: 'fetch', args: [] } as const
const SHALLOW = { label: 'depth 1', part: 'fetch', args: ['--depth=1'] } as const
const BLOBLESS = { label: 'blob:none', part: 'fetch', args: ['--filter=blob:none'] } as const

const TEXTS: ReadonlyArray<Plan & { readonly name: string; readonly shape: Shape }> = [
  {
    name: 'small',
    shape: SMALL_SHAPE,
    title: 'Text, 10 MB',
    rows: [SHALLOW, FULL, BLOBLESS].map((row) => ({ ...row, clients: 8 })),
  },
  {
    name: 'medium',
    shape: MEDIUM_SHAPE,
    title: 'Text, 50 MB',
    rows: [
      { ...SHALLOW, clients: 8 },
      { ...FULL, clients: 1 },
    ],
  },
  {
    name: 'large',
    shape: LARGE_SHAPE,
    title: 'Text, 300 MB',
    rows: [SHALLOW, FULL].map((row) => ({ ...row, clients: 1 })),
  },
]

const REQUEST_PEERS = ['nginx + git', 'nginx + file']

async function measureRequests(
  setup: Setup,
  repository: string,
  { title, rows }: Plan,
): Promise<Table> {
  const measured: Array<readonly [string, Comparison]> = []
  for (const row of rows) measured.push(await measureRow(setup, repository, row))
  return {
    title: `${title}: recorded requests, sent again without a git client`,
    peers: REQUEST_PEERS,
    unit: 'requests',
    rows: measured,
  }
}

async function measureRow(
  setup: Setup,
  repository: string,
  { label, part, args, clients }: RowPlan,
): Promise<readonly [string, Comparison]> {
  const { gatehouse, git, files, folder, signal } = setup
  const gatehouseUrl = `${gatehouse.url}/${OWNER}/${repository}.git`
  const recorded = (await recordClone(gatehouseUrl, { args, folder, signal }))[part]
  const bodyFile = await writeBody(recorded, folder)
  const replayOf = (url: string): Replay => ({
    url: `${url}/${recorded.suffix}`,
    headers: recorded.headers,
    bodyFile,
  })
  const own = replayOf(gatehouseUrl)
  const other = replayOf(`${git.url}/${repository}.git`)
  const name = `${repository}-${label.replaceAll(/\W/g, '-')}`
  const answerBytes = await saveAnswer(own, { file: join(files.files, name), signal })
  // Git reports errors with status 200, so a wrong size is the only sign of a failed request.
  const otherBytes = await saveAnswer(other, { file: join(folder, 'answer'), signal })
  if (Math.abs(answerBytes - otherBytes) > answerBytes / 10) {
    throw new Error(`${name}: gatehouse sent ${answerBytes} bytes, git ${otherBytes}`)
  }
  // A fetch may take longer than the duration of wrk, which cuts unfinished responses.
  const workOf = (replay: Replay): (() => Promise<RoundResult>) =>
    part === 'fetch'
      ? createReplay(replay, { clients, answerBytes, signal })
      : () => requestRepeatedly(replay.url, { ...replay, threads: 1, connections: clients, signal })
  const comparison = await compare(
    sideOf(gatehouse, workOf(own)),
    sideOf(git, workOf(other)),
    sideOf(files, workOf({ url: `${files.url}/${name}`, headers: [] })),
  )
  const who = clients === 1 ? '1 client' : `${clients} clients`
  return [`${label} (${formatSize(answerBytes)}), ${who}`, comparison]
}

async function writeBody({ body }: RecordedRequest, folder: string): Promise<string | undefined> {
  if (body === undefined) return undefined
  const file = join(folder, 'body')
  await writeFile(file, body)
  return file
}

function formatSize(sizeBytes: number): string {
  if (sizeBytes < 1_000) return `${sizeBytes} bytes`
  if (sizeBytes < 1_000_000) return `${Math.round(sizeBytes / 1_000)} KB`
  return `${(sizeBytes / 1_000_000).toFixed(1)} MB`
}

const CLONE_PEERS = ['nginx + git']

async function measureClones(setup: Setup, name: string): Promise<Table> {
  const { gatehouse, git, folder, signal } = setup
  const clone = (args: readonly string[], count: number) => {
    const options = { args, count, parallel: 4, folder, signal }
    return compare(
      sideOf(gatehouse, () => cloneRepeatedly(`${gatehouse.url}/${OWNER}/${name}.git`, options)),
      sideOf(git, () => cloneRepeatedly(`${git.url}/${name}.git`, options)),
    )
  }
  return {
    title: 'Text, 10 MB: git clone --no-checkout, 4 concurrent',
    peers: CLONE_PEERS,
    unit: 'clones',
    rows: [
      ['depth 1', await clone(['--depth=1'], 24)],
      ['full', await clone([], 8)],
    ],
  }
}

/** Number of rounds for differences of a few percent, which are within a machine's variation. */
const COLD_ROUNDS = 9

async function measureColdClones(
  setup: Setup,
  { name, path }: { readonly name: string; readonly path: string },
): Promise<Table> {
  const { gatehouse, git, folder, signal } = setup
  const clone = (args: readonly string[], count: number) => {
    const again = async (url: string) => {
      let seconds = 0
      for (let index = 0; index < count; index += 1) {
        await addCommit(path, signal)
        const options = { args, count: 1, parallel: 1, folder, signal }
        seconds += (await cloneRepeatedly(url, options)).seconds
      }
      return { operations: count, seconds }
    }
    return compareRounds(
      COLD_ROUNDS,
      sideOf(gatehouse, () => again(`${gatehouse.url}/${OWNER}/${name}.git`)),
      sideOf(git, () => again(`${git.url}/${name}.git`)),
    )
  }
  return {
    title: 'Text, 10 MB, cold: git clone --no-checkout, each after a new commit',
    peers: CLONE_PEERS,
    unit: 'clones',
    rows: [
      ['depth 1', await clone(['--depth=1'], 10)],
      ['full', await clone([], 6)],
    ],
  }
}
