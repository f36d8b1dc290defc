/** `api` and `web`: response times for a large repository. */

import { join } from 'node:path'
import { openJournal } from '../../cgi/maintenance/journal.js'
import { maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { findGit } from '../../cgi/process/git.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compareRounds, sideOf } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { addBranches, fillRepository } from './repositories.js'
import type { Table } from './table.js'
import { runGitAsUser } from './user-git.js'

/** Number of measured requests, of which the median is shown. */
const ROUNDS = 15

const NAME = 'large'

/** URLs to request from a large repository. */
interface PageSet {
  readonly title: string
  /** Path before the name of the owner. */
  readonly prefix: string
  /** Paths below that of the repository. */
  readonly pages: readonly string[]
}

const API_PAGES = [
  'branches',
  'branches/main',
  'tags',
  'commits',
  'commits?stat=false&files=false',
  'git/trees/main',
  'git/trees/main?recursive=true',
  'contents',
  'contents/folder-7',
  'contents/folder-7/file-7.txt',
  'raw/folder-7/file-7.txt?ref=main',
  'git/refs/heads/branch-1',
  'commits?path=folder-7',
  'git/commits/main',
  'compare/branch-20...main',
  'languages',
]

export const API_BENCHMARK = largeRepository({
  name: 'api',
  about: 'API responses for branches, commits, trees and contents, by number of commits',
  pageSet: { title: 'API', prefix: '/api/v1/repos', pages: API_PAGES },
})

const WEB_PAGES = [
  '',
  '/src/branch/main/folder-7',
  '/src/branch/main/folder-7/file-7.txt',
  '/commits',
  '/commits/branch/main/folder-7',
  '/commit/{head}',
  '/branches',
  '/tags',
]

export const WEB_BENCHMARK = largeRepository({
  name: 'web',
  about: 'pages of a repository, by number of commits',
  pageSet: { title: 'Pages', prefix: '', pages: WEB_PAGES },
})

function largeRepository({
  pageSet,
  ...named
}: Pick<Benchmark, 'name' | 'about'> & { readonly pageSet: PageSet }): Benchmark {
  return {
    ...named,
    sizes: [50_000],
    async *run(stage, sizes) {
      for (const commits of sizes) yield await measureSize(stage, commits, pageSet)
    },
  }
}

/** Measures a repository of a size; one with 50,000 commits has 20,000 files, 2,000 branches. */
async function measureSize(
  stage: BenchmarkContext,
  commits: number,
  { title, prefix, pages }: PageSet,
): Promise<Table> {
  const gatehouse = await startGatehouse(stage)
  try {
    const { path } = await gatehouse.makeRepository(NAME)
    const shape = { commits, files: Math.ceil(commits * 0.4), branches: Math.ceil(commits / 25) }
    await fill(stage, path, shape)
    const rows: Array<readonly [string, Comparison]> = []
    const firsts: string[] = []
    const sizes: string[] = []
    const head = (await runGitAsUser(['rev-parse', 'main'], { cwd: path, ...stage })).trim()
    for (const page of pages) {
      const text = `${prefix}/${OWNER}/${NAME}${prefix === '' ? '' : '/'}${page}`
      const address = gatehouse.url + text.replace('{head}', head)
      const { comparison, firstMs, sizeBytes } = await measurePage(gatehouse, address)
      const label = page === '' ? 'the repository itself' : page
      rows.push([label, comparison])
      firsts.push(`${label} ${firstMs.toFixed(0)}`)
      const size = sizeBytes === undefined ? '?' : (sizeBytes / 1_000).toFixed(1)
      sizes.push(`${label} ${size}`)
    }
    const peaks = await gatehouse.cpu.memoryPeaks()
    const megabytes = peaks.map((bytes) => Math.round(bytes / 1_000_000))
    return {
      title: `${title}: ${commits} commits, ${shape.files} files, ${shape.branches} branches`,
      peers: [],
      unit: 'requests',
      shows: 'time',
      rows,
      notes: [
        `median of ${ROUNDS} sequential requests after a first one`,
        `first request, in ms: ${firsts.join(', ')}`,
        `responses as sent, in KB: ${sizes.join(', ')}`,
        `peak memory of each gatehouse process, in MB: ${megabytes.join(', ') || '?'}`,
      ],
    }
  } finally {
    await gatehouse.stop()
  }
}

interface LargeShape {
  readonly commits: number
  readonly files: number
  readonly branches: number
}

/** Number of maintenance runs until all commits have changed-path filters. */
const UPKEEP_RUNS = 3

/** Fills the repository and runs maintenance as after pushes. */
async function fill(
  { folder, signal }: BenchmarkContext,
  path: string,
  shape: LargeShape,
): Promise<void> {
  const { commits, files, branches } = shape
  const texts = { files, fileBytes: 200, commits: commits - 1, filesChanged: 2 }
  await fillRepository(path, texts, signal)
  await addBranches(path, Math.min(branches, 20_000), signal)
  const git = await findGit()
  const journal = await openJournal(join(folder, 'data'))
  for (let runs = 0; runs < UPKEEP_RUNS; runs += 1) {
    await maintainRepository(git, path, { journal, signal })
  }
}

interface Measured {
  readonly comparison: Comparison
  /** Duration of the first request, without cached data. */
  readonly firstMs: number
  /** Size of the response as sent, possibly compressed; undefined if it was not announced. */
  readonly sizeBytes: number | undefined
}

async function measurePage(gatehouse: Gatehouse, address: string): Promise<Measured> {
  const headers = { Authorization: `token ${gatehouse.token}` }
  let firstMs: number | undefined
  let sizeBytes: number | undefined
  const work = async () => {
    const startedAt = performance.now()
    const response = await fetch(address, { headers })
    await response.arrayBuffer()
    const length = response.headers.get('content-length')
    sizeBytes = length === null ? undefined : Number(length)
    if (response.status !== 200) throw new Error(`${address} returned ${response.status}`)
    const ms = performance.now() - startedAt
    firstMs ??= ms
    return { operations: 1, seconds: ms / 1_000 }
  }
  const comparison = await compareRounds(ROUNDS, sideOf(gatehouse, work))
  return { comparison, firstMs: firstMs ?? 0, sizeBytes }
}
