/** `lfs`: objects of Git LFS, by the gateway and through nginx, beside nginx and a file. */

import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { requestRepeatedly } from './load.js'
import type { MeasuredServer } from './server.js'
import { type StaticPeer, startStaticPeer } from './static-peer.js'
import { both, PREFIX, startFront } from './stored-clones.js'

const SIZES = [
  { label: '100 KB', bytes: 100_000 },
  { label: '1 MB', bytes: 1_000_000 },
  { label: '10 MB', bytes: 10_000_000 },
] as const
const REPOSITORY = 'large'
const CLIENTS = 8

interface Setup extends Pick<BenchmarkContext, 'signal'> {
  readonly gatehouse: Gatehouse
  /** nginx in front of the gateway; nginx sends the objects. */
  readonly front: MeasuredServer
  readonly files: StaticPeer
}

export const LFS_BENCHMARK: Benchmark = {
  name: 'lfs',
  about: 'downloads of Git LFS by the gateway and through nginx, compared with nginx and a file',
  async *run(stage) {
    const environment = { GATEHOUSE_HTTP_SENDFILE: `nginx:${PREFIX}` }
    const gatehouse = await startGatehouse(stage, { environment })
    const started: Array<{ stop(): Promise<void> }> = [gatehouse]
    try {
      const front = await startFront(stage, gatehouse, { name: 'front', isSending: true })
      started.push(front)
      const files = await startStaticPeer(stage)
      started.push(files)
      await gatehouse.makeRepository(REPOSITORY)
      const rows: Array<readonly [string, Comparison]> = []
      for (const { label, bytes } of SIZES) {
        const measured = await measureObject({ ...stage, gatehouse, front, files }, bytes)
        rows.push([`${label}, by the gateway`, measured.alone])
        rows.push([`${label}, behind nginx`, measured.behind])
      }
      yield {
        title: `Downloads of one object with the header of its batch, ${CLIENTS} clients`,
        peers: ['nginx + file'],
        unit: 'requests',
        rows,
      }
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  },
}

async function measureObject(
  { gatehouse, front, files, signal }: Setup,
  bytes: number,
): Promise<{ readonly alone: Comparison; readonly behind: Comparison }> {
  const content = randomBytes(bytes)
  const oid = createHash('sha256').update(content).digest('hex')
  await writeFile(join(files.files, oid), content)
  const upload = await requestAction(gatehouse, 'upload', { oid, size: bytes })
  const body = { method: 'PUT', body: content, headers: upload.header, signal }
  const put = await fetch(upload.href, body)
  if (!put.ok) throw new Error(`the object was not uploaded: ${await put.text()}`)
  const download = await requestAction(gatehouse, 'download', { oid, size: bytes })
  const headers = Object.entries(download.header).map(([name, value]) => `${name}: ${value}`)
  const { pathname } = new URL(download.href)
  const workOf = (url: string) => () =>
    requestRepeatedly(url, { headers, threads: 1, connections: CLIENTS, signal })
  const peer = sideOf(files, workOf(`${files.url}/${oid}`))
  const alone = sideOf(gatehouse, workOf(gatehouse.url + pathname))
  const behind = both(gatehouse, sideOf(front, workOf(front.url + pathname)))
  return { alone: await compare(alone, peer), behind: await compare(behind, peer) }
}

interface Action {
  readonly href: string
  readonly header: Readonly<Record<string, string>>
}

/** Sends the batch of git-lfs for one object. Throws if it has no action. */
async function requestAction(
  gatehouse: Gatehouse,
  operation: 'upload' | 'download',
  object: { readonly oid: string; readonly size: number },
): Promise<Action> {
  const address = `${gatehouse.url}/${OWNER}/${REPOSITORY}.git/info/lfs/objects/batch`
  const credentials = Buffer.from(`${OWNER}:${gatehouse.token}`).toString('base64')
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      Accept: 'application/vnd.git-lfs+json',
      'Content-Type': 'application/vnd.git-lfs+json',
      Authorization: `Basic ${credentials}`,
    },
    body: JSON.stringify({ operation, transfers: ['basic'], objects: [object] }),
  })
  const text = await response.text()
  const action = response.ok && JSON.parse(text).objects?.[0]?.actions?.[operation]
  if (!action) throw new Error(`the batch has no ${operation}: ${text}`)
  return { href: action.href, header: action.header ?? {} }
}
