/** Requests by git-http-backend, with the body and the answer streamed at the same time. */

import { readOnce } from '../../conf/lib/chunks.js'
import { firstLine, type Git, startGit } from '../process/git.js'
import { limitFailure } from '../process/git-limits.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'
import type { ProcessEnd } from '../process/run.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { type BackendRequest, backendEnvironment } from './environment.js'
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
  const work = call.suffix === 'git-receive-pack' ? 'push' : 'fetch'
  const running = startGit(git, work, [git.backend], {
    cwd: '/',
    environment: backendEnvironment(git, call),
    signal: call.signal,
    timeoutMs: call.timeoutMs,
  })
  lowerPriority(running.pid, TRANSFER_NICENESS)
  try {
    if (running.pid !== undefined) await call.onStarted?.(running.pid)
  } catch (error) {
    running.kill()
    throw error
  }
  const upload = pumpBody(call.body, running)
  try {
    const response = await readCgiResponse(running.output)
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
    const complaint = `git-http-backend failed: ${firstLine(end.errorText)}`
    throw limitFailure(end) ?? new Error(complaint, { cause })
  }
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
