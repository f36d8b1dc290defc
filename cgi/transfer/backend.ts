/**
 * Requests by git-http-backend, with the body and the answer streamed at the same time. Pushes of
 * the usual form start the program that git-http-backend would only start.
 */

import { readOnce } from '../../conf/lib/chunks.js'
import { firstLine, type Git, gitEnvironment, startGit } from '../process/git.js'
import { limitFailure } from '../process/git-limits.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'
import type { ProcessEnd, RunningProcess } from '../process/run.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { readPresentState } from '../repository/repository-state.js'
import { type BackendRequest, backendEnvironment, protocolEnvironment } from './environment.js'
import { type CgiResponse, readCgiResponse } from './response.js'
import { pumpBody, throwUploadError, type Upload } from './upload.js'

/** A request and its limits. */
export interface BackendCall extends BackendRequest {
  /** Request body. If it throws, the push or fetch is cancelled and the process group ends. */
  readonly body: AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called with the process group before git gets the first byte of the body. */
  readonly onStarted?: ((groupId: number) => Promise<void>) | undefined
  /** Called before the end of a push's answer, after its refs were flushed to disk. */
  readonly onApplied?: (() => Promise<void>) | undefined
}

/** Git's answer, which may be incomplete yet. */
export interface BackendAnswer extends CgiResponse {
  /** Settles when the process group has ended. Never rejects. */
  readonly ended: Promise<ProcessEnd>
}

/**
 * Runs git for a request. The answer's body must be read or returned from; returning ends git. It
 * throws if the answer is incomplete, with the error of the request's body if that is the cause.
 * The answer to a push ends after its refs and objects were flushed to disk.
 */
export async function callBackend(git: Git, call: BackendCall): Promise<BackendAnswer> {
  const startedAtMs = Date.now()
  const { remoteUser } = call
  const isDirect = remoteUser !== undefined && isUsualPush(call)
  const running = await (isDirect
    ? startReceivePack(git, call, remoteUser)
    : startBackend(git, call))
  lowerPriority(running.pid, TRANSFER_NICENESS)
  try {
    if (running.pid !== undefined) await call.onStarted?.(running.pid)
  } catch (error) {
    running.kill()
    throw error
  }
  const upload = pumpBody(call.body, running)
  try {
    const response = isDirect ? pushResponse(running) : await readCgiResponse(running.output)
    const isPush = call.suffix === 'git-receive-pack'
    const finish = async () => {
      await syncRepositoryNames(call.repositoryPath, startedAtMs)
      await call.onApplied?.()
    }
    const body = watchBody(response.body, { upload, finish: isPush ? finish : undefined })
    return { ...response, body, ended: running.ended }
  } catch (cause) {
    running.kill()
    const end = await running.ended
    throwUploadError(upload)
    const program = isDirect ? 'git receive-pack' : 'git-http-backend'
    const complaint = `${program} failed: ${firstLine(end.errorText)}`
    throw limitFailure(end) ?? new Error(complaint, { cause })
  }
}

function startBackend(git: Git, call: BackendCall): Promise<RunningProcess> {
  return startGit(git, call.suffix === 'git-receive-pack' ? 'push' : 'fetch', [git.backend], {
    cwd: '/',
    environment: backendEnvironment(git, call),
    signal: call.signal,
    timeoutMs: call.timeoutMs,
  })
}

/** Section of the configuration by which git-http-backend may refuse pushes (git-config(1)). */
const HTTP_SECTION = /\[\s*http/i

/** Returns true for a push that git-http-backend certainly passes on, without any conversion. */
function isUsualPush({ suffix, method, contentType, gzip, repositoryPath }: BackendCall): boolean {
  if (suffix !== 'git-receive-pack' || method !== 'POST' || gzip) return false
  if (contentType !== 'application/x-git-receive-pack-request') return false
  const state = readPresentState(repositoryPath)
  return state !== undefined && !HTTP_SECTION.test(state.settingsText)
}

/** Starts git as git-http-backend does for a push. */
function startReceivePack(
  git: Git,
  call: BackendCall,
  remoteUser: string,
): Promise<RunningProcess> {
  return startGit(git, 'push', [git.file, 'receive-pack', '--stateless-rpc', '.'], {
    cwd: call.repositoryPath,
    environment: {
      ...gitEnvironment(git, call),
      ...call.variables,
      ...protocolEnvironment(call.gitProtocol),
      // Hooks of the administrator may read these.
      REMOTE_USER: remoteUser,
      REMOTE_ADDR: call.remoteAddress,
      GIT_COMMITTER_NAME: remoteUser,
      GIT_COMMITTER_EMAIL: `${remoteUser}@http.${call.remoteAddress}`,
    },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
  })
}

/** Headers that git-http-backend sends for a push. */
export const PUSH_HEADERS = [
  ['expires', 'Fri, 01 Jan 1980 00:00:00 GMT'],
  ['pragma', 'no-cache'],
  ['cache-control', 'no-cache, max-age=0, must-revalidate'],
  ['content-type', 'application/x-git-receive-pack-result'],
] as const

/** Returns the response before git has ended. Throws if git did not start. */
function pushResponse({ pid, output }: RunningProcess): CgiResponse {
  if (pid === undefined) throw new Error('git receive-pack did not start')
  return { status: 200, headers: PUSH_HEADERS, body: output }
}

interface Watch {
  readonly upload: Upload
  readonly finish: (() => Promise<void>) | undefined
}

function watchBody(body: AsyncIterable<Uint8Array>, watch: Watch): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  const next = async () => {
    try {
      const result = await chunks.next()
      if (result.done) await watch.finish?.()
      return result
    } catch (error) {
      throwUploadError(watch.upload)
      throw error
    }
  }
  return readOnce(next, () => chunks.return?.())
}
