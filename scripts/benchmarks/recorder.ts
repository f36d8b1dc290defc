/** Recording of the requests of a `git clone`, to be replayed without git. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { freePort } from './server.js'
import { runGitAsUser } from './user-git.js'

/** Request as git sent it, without the URL of the server. */
export interface RecordedRequest {
  /** Path and query below the repository, such as `info/refs?…`. */
  readonly suffix: string
  /** Headers as `Name: value`. */
  readonly headers: readonly string[]
  /** Body of a POST; absent for a GET. */
  readonly body?: Buffer
}

/** Requests of a clone with protocol v2. */
export interface RecordedClone {
  readonly references: RecordedRequest
  readonly listing: RecordedRequest
  readonly fetch: RecordedRequest
}

export interface RecorderOptions {
  /** Arguments of `git clone`. */
  readonly args: readonly string[]
  readonly folder: string
  readonly signal: AbortSignal
}

/**
 * Clones the repository at the URL through a proxy that records the requests. The last request is
 * recorded and rejected, because its response, up to several hundred megabytes, is not needed.
 */
export async function recordClone(url: string, options: RecorderOptions): Promise<RecordedClone> {
  const { args, folder, signal } = options
  const requests: RecordedRequest[] = []
  const port = await freePort()
  const proxy = createServer((request, response) => {
    pass(request, response, { url, requests }).catch(() => response.destroy())
  })
  proxy.listen(port, '127.0.0.1')
  await once(proxy, 'listening')
  const words = ['clone', '--quiet', '--no-checkout', ...args, `http://127.0.0.1:${port}`]
  const failure = await runGitAsUser([...words, join(folder, 'recorded')], {
    cwd: folder,
    signal,
  }).catch((error: unknown) => error)
  proxy.close()
  proxy.closeAllConnections()
  const [references, listing, fetch] = requests
  if (references === undefined || listing === undefined || fetch === undefined) {
    throw new Error(`git sent ${requests.length} requests, not 3`, { cause: failure })
  }
  return { references, listing, fetch }
}

interface Passage {
  readonly url: string
  readonly requests: RecordedRequest[]
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { url, requests }: Passage,
): Promise<void> {
  const body = Buffer.concat(await request.toArray())
  const recorded = {
    suffix: (request.url ?? '').slice(1),
    headers: headersOf(request),
    ...(request.method === 'POST' ? { body } : {}),
  }
  requests.push(recorded)
  if (body.includes('command=fetch')) {
    response.writeHead(503).end()
    return
  }
  const answer = await fetch(`${url}/${recorded.suffix}`, {
    method: request.method ?? 'GET',
    headers: recorded.headers.map((line) => line.split(': ', 2) as [string, string]),
    ...(recorded.body === undefined ? {} : { body }),
  })
  response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' })
  response.end(Buffer.from(await answer.arrayBuffer()))
}

/** Headers of one connection, which the replaying client sets. */
const OF_A_CONNECTION: ReadonlySet<string> = new Set(['host', 'content-length', 'connection'])

function headersOf({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || OF_A_CONNECTION.has(name.toLowerCase())
      ? []
      : [`${name}: ${rawHeaders[index + 1]}`],
  )
}
