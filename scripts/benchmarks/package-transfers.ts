/** Tables of `packages`: uploads and ranges of files, compared with nginx on the same files. */

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { type Gatehouse, OWNER } from './gatehouse.js'
import { requestRepeatedly } from './load.js'
import type { StaticPeer } from './static-peer.js'
import type { Table } from './table.js'

interface Sides extends Pick<BenchmarkContext, 'signal'> {
  readonly gatehouse: Gatehouse
  readonly files: StaticPeer
}

const UPLOADS = [
  { label: '1 MB', bytes: 1_000_000, count: 40 },
  { label: '100 MB', bytes: 100_000_000, count: 3 },
] as const

/** Measures uploads, one after the other. nginx neither computes digests nor flushes files. */
export async function measureUploads({ gatehouse, files, signal }: Sides): Promise<Table> {
  const headers = { Authorization: `token ${gatehouse.token}` }
  const generic = `${gatehouse.url}/api/packages/${OWNER}/generic/uploads`
  let number = 0
  const rows: Array<readonly [string, Comparison]> = []
  for (const { label, bytes, count } of UPLOADS) {
    const body = randomBytes(bytes)
    const workOf = (urlOf: (number: number) => string) => async () => {
      const startedAt = performance.now()
      for (let at = 0; at < count; at += 1) {
        number += 1
        // Equal bytes would be stored once.
        body.writeUInt32LE(number)
        await putBody(urlOf(number), { headers, body, signal })
      }
      return { operations: count, seconds: (performance.now() - startedAt) / 1_000 }
    }
    const own = sideOf(
      gatehouse,
      workOf((number) => `${generic}/${number}/file`),
    )
    const peer = sideOf(
      files,
      workOf((number) => `${files.url}/upload-${number}`),
    )
    rows.push([label, await compare(own, peer)])
  }
  return {
    title: 'Uploads of generic packages, 1 client',
    peers: ['nginx, without digests and fsync'],
    unit: 'uploads',
    rows,
  }
}

/** Uploads a file. Throws if it was not created. */
export async function putBody(
  url: string,
  { body, ...options }: Pick<RequestInit, 'headers' | 'signal'> & { body: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body, ...options })
  if (response.status !== 201) throw new Error(`${url} was not uploaded: ${await response.text()}`)
  await response.arrayBuffer()
}

const RANGES = [
  { label: '100 B', bytes: 100 },
  { label: '64 KB', bytes: 65_536 },
  { label: '1 MB', bytes: 1_000_000 },
  { label: '10 MB', bytes: 10_000_000 },
] as const

/** Offset of the ranges. */
const START = 5_000_000

/** Measures ranges of a file that both sides have: its paths are given. */
export async function measureRanges(
  { gatehouse, files, signal }: Sides,
  { path, name }: { readonly path: string; readonly name: string },
): Promise<Table> {
  const rows: Array<readonly [string, Comparison]> = []
  for (const { label, bytes } of RANGES) {
    const headers = [`Range: bytes=${START}-${START + bytes - 1}`]
    const workOf = (url: string) => () =>
      requestRepeatedly(url, { headers, threads: 1, connections: 4, signal })
    const own = sideOf(gatehouse, workOf(gatehouse.url + path))
    const peer = sideOf(files, workOf(`${files.url}/${name}`))
    rows.push([label, await compare(own, peer)])
  }
  return {
    title: 'Ranges of a file of 100 MB, 4 clients',
    peers: ['nginx'],
    unit: 'requests',
    rows,
  }
}
