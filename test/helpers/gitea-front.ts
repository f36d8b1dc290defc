/** Servers that stand for a Gitea elsewhere: before a real one, or with an API that lies. */

import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BadSource, serveWith } from './sources.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface WaitingProxy {
  readonly url: string
  /** Settles when the request has come that is never answered. */
  readonly isReached: Promise<void>
  /** Its answer, which closes when the one who asked has gone. */
  readonly held: ServerResponse
}

/** Passes everything on but the first request of the API whose path ends so. */
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
    if (!path.endsWith(end)) return void pass(url, request, response)
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
      if (answer === undefined) throw new Error('nothing is held up yet')
      return answer
    },
  }
}

function pass(url: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = request
  // On a connection of its own: the server may be closing an idle one just now.
  const options = { method, headers, agent: false }
  const onward = ask(new URL(request.url ?? '', url), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}

/** What a Gitea that is none says of `eve/source`: path below the repository → answer. */
export type SourceAnswer = Readonly<Record<string, unknown>>

/**
 * Real Git under an API that says whatever the test wants: for what no real server says. Lists
 * have one page; a function answers as it likes.
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
      return void pass(gitUrl, request, response)
    }
    const answer =
      answering[url.pathname.slice(prefix.length)] ?? (url.pathname === prefix ? {} : [])
    if (typeof answer === 'function') return void answer(response, url)
    const isPast = Array.isArray(answer) && url.searchParams.get('page') !== '1'
    response.end(JSON.stringify(isPast ? [] : answer))
  })
  return { ...source, url: `http://127.0.0.1:${source.port}/eve/source.git` }
}
