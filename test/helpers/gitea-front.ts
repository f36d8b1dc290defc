/** Servers in the role of a remote Gitea: a proxy of a real one, and one with a fake API. */

import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BadSource, serveWith } from './sources.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface WaitingProxy {
  readonly url: string
  /** Resolves when the request that is not answered has arrived. */
  readonly isReached: Promise<void>
  /** Reply to that request, which closes when the client disconnects. */
  readonly held: ServerResponse
}

/** Starts a proxy that forwards all requests except those whose path ends with `end`. */
export async function startWaitingProxy(
  t: Teardown,
  url: string,
  end: string,
): Promise<WaitingProxy> {
  let reach = (_: ServerResponse) => {}
  const held = new Promise<ServerResponse>((resolve) => {
    reach = resolve
  })
  let answer: ServerResponse | undefined
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    if (!path.endsWith(end)) return void forward(url, request, response)
    answer = response
    reach(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    isReached: held.then(() => {}),
    get held() {
      if (answer === undefined) throw new Error('no request is waiting yet')
      return answer
    },
  }
}

function forward(url: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = request
  // A new connection is used because the server may be closing an idle one.
  const options = { method, headers, agent: false }
  const onward = ask(new URL(request.url ?? '', url), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}

/** Replies of a fake Gitea for `eve/source`, by path below the repository. */
export type SourceAnswer = Readonly<Record<string, unknown>>

/**
 * Starts a server with a real Git repository and a fake API, for replies that no real server sends.
 * Lists have one page; a function writes the reply itself.
 */
export async function serveSource(
  t: Teardown,
  gitUrl: string,
  answering: SourceAnswer,
): Promise<BadSource> {
  const source = await serveWith(t, (request, response) => {
    const url = new URL(request.url ?? '', 'http://eve.test')
    const prefix = '/api/v1/repos/eve/source'
    if (!url.pathname.startsWith(prefix)) {
      request.url = request.url?.replace('/eve/', '/') ?? ''
      return void forward(gitUrl, request, response)
    }
    const answer =
      answering[url.pathname.slice(prefix.length)] ?? (url.pathname === prefix ? {} : [])
    if (typeof answer === 'function') return void answer(response, url)
    const isPast = Array.isArray(answer) && url.searchParams.get('page') !== '1'
    response.end(JSON.stringify(isPast ? [] : answer))
  })
  return { ...source, url: `http://127.0.0.1:${source.port}/eve/source.git` }
}
