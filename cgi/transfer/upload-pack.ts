/** Fetch requests by `git upload-pack`, without git-http-backend, which would only start it. */

import { beginWith, readOnce } from '../../conf/lib/chunks.js'
import { firstLine, type Git, gitEnvironment, startGit, startGitNow } from '../process/git.js'
import { limitFailure } from '../process/git-limits.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'
import type { ProcessEnd, RunningProcess } from '../process/run.js'
import { protocolEnvironment } from './environment.js'
import { pumpBody, throwUploadError } from './upload.js'

/** A fetch request and its limits. */
export interface UploadPackCall {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol?: string | undefined
  /** Decoded body. If it throws, the fetch is cancelled and the process group ends. */
  readonly body: AsyncIterable<Uint8Array>
  /** True for a conversation: git first sends its refs, and answers round by round. */
  readonly isStateful?: boolean
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Git's answer, which may be incomplete yet. */
export interface UploadPackAnswer {
  /**
   * `application/x-git-upload-pack-result`. Must be read or returned from; returning ends git.
   * Throws if the answer is incomplete, with the error of the request's body if that is the cause.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Settles when the process group has ended. Never rejects. */
  readonly ended: Promise<ProcessEnd>
}

/** Error of git about an invalid request or a damaged repository. */
export class UploadPackError extends Error {
  override readonly name = 'UploadPackError'
}

/**
 * Runs git for a fetch. Settles with the first bytes of the answer, so that earlier errors can be
 * reported. Throws the error of the body, or UploadPackError with the first line of git's error.
 */
export async function callUploadPack(git: Git, call: UploadPackCall): Promise<UploadPackAnswer> {
  const { command, options } = processOf(git, call)
  const running = await startGit(git, 'fetch', command, options)
  lowerPriority(running.pid, TRANSFER_NICENESS)
  const upload = pumpBody(call.body, running)
  const chunks = running.output[Symbol.asyncIterator]()
  const next = async () => {
    try {
      return await chunks.next()
    } catch (error) {
      throwUploadError(upload)
      throw error
    }
  }
  const first = await next()
  if (first.done) {
    const end = await running.ended
    if (end.exitCode !== 0) throw limitFailure(end) ?? new UploadPackError(firstLine(end.errorText))
  }
  const body = readOnce(beginWith(first, next), () => chunks.return?.())
  return { body, ended: running.ended }
}

/** A fetch whose answer is written to a file. */
export interface SpooledCall extends Omit<UploadPackCall, 'body'> {
  readonly request: Uint8Array
  /** File descriptor that is open for writing. */
  readonly outputFile: number
}

/** Runs git for a fetch and writes its answer to a file. `ended` reports if git cannot start. */
export function spoolUploadPack(git: Git, call: SpooledCall): Omit<RunningProcess, 'output'> {
  const { command, options } = processOf(git, call)
  const { outputFile } = call
  const running = startGitNow(git, 'fetch', command, { ...options, outputFile })
  lowerPriority(running.pid, TRANSFER_NICENESS)
  void running.input.write(call.request).then(() => running.input.end())
  return running
}

function processOf(git: Git, call: Omit<UploadPackCall, 'body'>) {
  const form = call.isStateful ? [] : ['--stateless-rpc']
  return {
    command: [git.file, 'upload-pack', ...form, '.'],
    options: {
      cwd: call.repositoryPath,
      environment: {
        ...gitEnvironment(git, { config: [] }),
        ...protocolEnvironment(call.gitProtocol),
      },
      signal: call.signal,
      timeoutMs: call.timeoutMs,
    },
  } as const
}
