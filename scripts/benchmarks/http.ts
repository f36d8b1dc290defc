/** `http`: the API compared with fastify, and Git compared with nginx and fcgiwrap. */

import { startApiPeer } from './api-peer.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { type GitPeer, startGitPeer } from './git-peer.js'
import { cloneRepeatedly, requestRepeatedly } from './load.js'
import { fillRepository, PROJECT_FOLDER, SMALL_SHAPE } from './repositories.js'
import type { Table } from './table.js'

const CONNECTIONS = { threads: 2, connections: 16 }

export const HTTP_BENCHMARK: Benchmark = {
  name: 'http',
  about: 'the API compared with fastify; refs and clones with nginx, fcgiwrap and http-backend',
  async *run(stage) {
    const gatehouse = await startGatehouse(stage)
    try {
      const project = await gatehouse.addRepository('project', PROJECT_FOLDER)
      const small = await gatehouse.makeRepository('small')
      await fillRepository(small.path, SMALL_SHAPE, stage.signal)
      yield await measureApi(stage, gatehouse)
      yield* measureGit(stage, { gatehouse, paths: { project: project.path, small: small.path } })
    } finally {
      await gatehouse.stop()
    }
  },
}

async function measureApi(
  { folder, signal }: BenchmarkContext,
  gatehouse: Gatehouse,
): Promise<Table> {
  const peer = await startApiPeer({ folder, signal }, gatehouse)
  try {
    const authorization = `Authorization: token ${gatehouse.token}`
    const repository = `/api/v1/repos/${OWNER}/project`
    await checkSameAnswer([gatehouse.url, peer.url], repository, gatehouse.token)
    const measure = (path: string, headers: readonly string[]) =>
      compare(
        sideOf(gatehouse, () =>
          requestRepeatedly(gatehouse.url + path, { ...CONNECTIONS, headers, signal }),
        ),
        sideOf(peer, () => requestRepeatedly(peer.url + path, { ...CONNECTIONS, headers, signal })),
      )
    return {
      title: 'API: wrk, 16 connections, 2 processes each, the same SQLite file',
      peers: ['fastify'],
      unit: 'requests',
      rows: [
        ['GET /api/v1/version', await measure('/api/v1/version', [])],
        ['GET /api/v1/repos/{owner}/{repo}', await measure(repository, [authorization])],
      ],
    }
  } finally {
    await peer.stop()
  }
}

/** Throws if the responses differ, because the compared work would then differ. */
async function checkSameAnswer(
  urls: readonly [gatehouse: string, peer: string],
  path: string,
  token: string,
): Promise<void> {
  const ask = async (url: string) => {
    const response = await fetch(url + path, { headers: { Authorization: `token ${token}` } })
    return JSON.stringify(sortKeys(await response.json()))
  }
  // The first request after the first push updates the repository's field `empty`.
  await ask(urls[0])
  const answers = [await ask(urls[0]), await ask(urls[1])]
  if (answers[0] !== answers[1]) {
    throw new Error(`the responses to ${path} differ:\n${answers.join('\n')}`)
  }
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}

interface GitSetup {
  readonly gatehouse: Gatehouse
  /** Bare repositories that both servers serve. */
  readonly paths: { readonly project: string; readonly small: string }
}

async function* measureGit(
  { folder, signal }: BenchmarkContext,
  { gatehouse, paths }: GitSetup,
): AsyncGenerator<Table> {
  const peer = await startGitPeer({ folder, signal })
  try {
    await peer.addRepository('project', paths.project)
    await peer.addRepository('small', paths.small)
    yield await measureReferences(gatehouse, peer, signal)
    const clone = (name: string, count: number, parallel: number) => {
      const options = { count, parallel, folder, signal }
      return compare(
        sideOf(gatehouse, () => cloneRepeatedly(`${gatehouse.url}/${OWNER}/${name}.git`, options)),
        sideOf(peer, () => cloneRepeatedly(`${peer.url}/${name}.git`, options)),
      )
    }
    yield {
      title: 'Clones: git clone --no-checkout of the same bare repositories',
      peers: ['nginx'],
      unit: 'clones',
      rows: [
        ['this project, sequential', await clone('project', 12, 1)],
        ['this project, 4 concurrent', await clone('project', 24, 4)],
        ['10 MB of text, sequential', await clone('small', 3, 1)],
        ['10 MB of text, 4 concurrent', await clone('small', 8, 4)],
      ],
    }
  } finally {
    await peer.stop()
  }
}

async function measureReferences(
  gatehouse: Gatehouse,
  peer: GitPeer,
  signal: AbortSignal,
): Promise<Table> {
  const rows: Array<readonly [string, Comparison]> = []
  const query = 'info/refs?service=git-upload-pack'
  for (const [label, headers] of [
    ['protocol v2', ['Git-Protocol: version=2']],
    ['protocol v0', []],
  ] as const) {
    const options = { ...CONNECTIONS, headers, signal }
    const comparison = await compare(
      sideOf(gatehouse, () =>
        requestRepeatedly(`${gatehouse.url}/${OWNER}/project.git/${query}`, options),
      ),
      sideOf(peer, () => requestRepeatedly(`${peer.url}/project.git/${query}`, options)),
    )
    rows.push([label, comparison])
  }
  return {
    title: 'info/refs of this project: wrk, 16 connections',
    peers: ['nginx'],
    unit: 'requests',
    rows,
  }
}
