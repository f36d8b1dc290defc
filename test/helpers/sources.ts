/** Source servers of imports: a good one with real git, and misbehaving ones. */

import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findGit } from '../../cgi/process/git.js'
import { serveBackend } from './backend-server.js'
import { git } from './git-client.js'
import { temporaryFolder } from './temporary.js'
import { newWorkingCopy, type WorkingCopy, writeHistory } from './working-copy.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface Source {
  /** Clone URL. */
  readonly url: string
  /** Path of the bare repository. */
  readonly path: string
  /** Working copy of the repository's contents. */
  readonly copy: WorkingCopy
}

/** Serves a repository with branches, both kinds of tags and a pull request by http-backend. */
export async function aSource(
  t: Teardown,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): Promise<Source> {
  const copy = await newWorkingCopy(t, objectFormat)
  await writeHistory(copy, { commits: 5, branches: 3, tags: 2 })
  await copy.git('tag', '-a', 'annotated', '-m', 'A tag', 'main')
  await copy.git('branch', 'trunk', 'branch-1')
  const served = await serveBare(t, objectFormat)
  await copy.git('push', '--quiet', served.path, 'refs/heads/*', 'refs/tags/*')
  await copy.git('push', '--quiet', served.path, 'branch-2:refs/pull/1/head')
  await git(['symbolic-ref', 'HEAD', 'refs/heads/trunk'], { cwd: served.path })
  return { ...served, copy }
}

/** Serves an empty bare repository, including its refs below refs/pull. */
export async function serveBare(
  t: Teardown,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): Promise<Omit<Source, 'copy'>> {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'source.git')
  await git(['init', '--quiet', '--bare', `--object-format=${objectFormat}`, path], { cwd: folder })
  const server = await serveBackend(await findGit(), {
    folder,
    change: () => ({ config: [['transfer.hideRefs', '!refs/pull']] }),
  })
  t.teardown(() => server.close())
  return { path, url: `${server.url}/source.git` }
}

/** Lists the refs below a prefix with their objects. */
export async function referencesOf(path: string, below = 'refs'): Promise<string> {
  return git(['for-each-ref', '--format=%(refname) %(objectname)', below], { cwd: path })
}

export interface BadSource {
  readonly url: string
  readonly port: number
  /** Path and query of each request so far. */
  readonly requests: readonly string[]
}

/** Starts a server whose replies the test writes. */
export async function serveWith(t: Teardown, answer: RequestListener): Promise<BadSource> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/source.git`, port, requests }
}

/** Listens on a port to which no connection may be made, and counts the connections. */
export async function countConnections(
  t: Teardown,
): Promise<{ readonly port: number; count(): number }> {
  let connections = 0
  const server = createPlainServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => server.close())
  return { port: (server.address() as AddressInfo).port, count: () => connections }
}

/** Returns a handler that forwards replies of a server, but cuts packs after `packBytesMax`. */
export function breakOffAfter(url: string, packBytesMax: number): RequestListener {
  return (request, response) => void relay(url, { request, response, packBytesMax })
}

/** Number of the POST in an import that requests the pack, after two for the refs. */
export const FETCH_POST_NUMBER = 3

export interface SlowSource {
  readonly url: string
  /** Resolves when the delayed request has arrived, or after 20 s. */
  isReached(): Promise<void>
  goOn(): void
}

/** Forwards replies of another server; the reply to the POST of that number waits for `goOn`. */
export async function serveSlowly(t: Teardown, url: string, number: number): Promise<SlowSource> {
  let posts = 0
  let goOn = () => {}
  const going = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const front = await serveWith(t, (request, response) => {
    if (request.method === 'POST') posts += 1
    const wait = posts === number ? going : Promise.resolve()
    void wait.then(() => breakOffAfter(url, Number.POSITIVE_INFINITY)(request, response))
  })
  const isReached = async () => {
    for (let poll = 0; posts < number && poll < 1_000; poll += 1) await sleep(20)
  }
  return { url: front.url, isReached, goOn: () => goOn() }
}

interface Relay {
  readonly request: Parameters<RequestListener>[0]
  readonly response: ServerResponse
  readonly packBytesMax: number
}

async function relay(url: string, { request, response, packBytesMax }: Relay): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const rest = request.url?.replace('/source.git', '') ?? ''
  const { method = 'GET', headers } = request
  const answer = await fetch(`${url}${rest}`, {
    method,
    headers: headersOf(headers),
    ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
  })
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
  const body = Buffer.from(await answer.arrayBuffer())
  const isPack = body.includes('PACK')
  if (!isPack || body.length <= packBytesMax) return void response.end(body)
  response.write(body.subarray(0, packBytesMax), () => response.destroy())
}

function headersOf(headers: Relay['request']['headers']): Record<string, string> {
  const kept = ['content-type', 'git-protocol', 'accept', 'content-encoding']
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
