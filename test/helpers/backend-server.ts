/** Minimal HTTP server around callBackend, without authorization. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Journal } from '../../cgi/maintenance/journal.js'
import type { Git } from '../../cgi/process/git.js'
import { type BackendCall, callBackend } from '../../cgi/transfer/backend.js'

/** Call with the client's Content-Length, which is not passed to git. */
type SeenCall = BackendCall & { readonly contentLength?: number | undefined }

export interface BackendServer {
  /** URL of the repositories' folder. */
  readonly url: string
  /** Errors of failed calls, oldest first. */
  readonly errors: readonly unknown[]
  /** Calls that the requests caused, oldest first. */
  readonly calls: readonly SeenCall[]
  close(): Promise<void>
}

export interface BackendServerOptions {
  /** Folder whose `{name}.git` is served as `/{name}.git`. */
  readonly folder: string
  /** Journal in which running pushes are recorded. */
  readonly journal?: Journal
  /** Returns the fields that the test replaces in each call. */
  readonly change?: (call: BackendCall) => Partial<BackendCall>
}

const SUFFIX =
  /^\/([\w.-]+\.git)\/(info\/refs|git-upload-pack|git-receive-pack)(?:\?service=(.*))?$/

/** Serves the bare repositories of a folder on a free port. */
export async function serveBackend(
  git: Git,
  options: BackendServerOptions,
): Promise<BackendServer> {
  const errors: unknown[] = []
  const calls: SeenCall[] = []
  const server = createServer((request, response) => {
    const call = callOf(request, response, options)
    if (call === undefined) {
      response.writeHead(404).end()
      return
    }
    calls.push(call)
    const recorded = recordIn(options.journal, call)
    answer(git, recorded.call, response)
      .then(recorded.remove)
      .catch((error: unknown) => {
        errors.push(error)
        response.destroy()
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, errors, calls, close }
}

async function answer(git: Git, call: BackendCall, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await callBackend(git, call)
  response.writeHead(status, Object.fromEntries(headers))
  // Not `once`, which rejects for an error; the client's end is none.
  const when = (event: 'close' | 'drain') =>
    new Promise<void>((resolve) => response.once(event, resolve))
  const closed = when('close')
  for await (const chunk of body) {
    if (response.write(chunk) || response.destroyed) continue
    await Promise.race([when('drain'), closed])
  }
  response.end()
}

/** Records a push in the journal while it runs, but not the empty request with which git probes. */
function recordIn(journal: Journal | undefined, call: SeenCall): RecordedCall {
  let remove = async () => {}
  if (journal === undefined || call.suffix !== 'git-receive-pack' || call.contentLength === 4) {
    return { call, remove }
  }
  const onStarted = async (pid: number) => {
    remove = await journal.record({ repositoryPath: call.repositoryPath, pid })
  }
  return { call: { ...call, onStarted }, remove: () => remove() }
}

interface RecordedCall {
  readonly call: BackendCall
  readonly remove: () => Promise<void>
}

function callOf(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, change }: BackendServerOptions,
): SeenCall | undefined {
  const match = SUFFIX.exec(request.url ?? '')
  if (match === null) return undefined
  const suffix = match[2] as BackendCall['suffix']
  const aborting = new AbortController()
  response.once('close', () => aborting.abort())
  const { headers } = request
  const { 'content-length': length, 'git-protocol': protocol } = headers
  const call: SeenCall = {
    repositoryPath: join(folder, match[1] ?? ''),
    method: request.method === 'POST' ? 'POST' : 'GET',
    suffix,
    service: (suffix === 'info/refs' ? match[3] : suffix) as BackendCall['service'],
    gzip: headers['content-encoding'] === 'gzip',
    remoteUser: 'ada',
    remoteAddress: request.socket.remoteAddress ?? '',
    config: [],
    body: request,
    signal: aborting.signal,
    timeoutMs: 120_000,
    contentType: headers['content-type'],
    contentLength: length === undefined ? undefined : Number(length),
    gitProtocol: typeof protocol === 'string' ? protocol : undefined,
  }
  return { ...call, ...change?.(call) }
}
