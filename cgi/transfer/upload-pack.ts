/** One fetch request through git upload-pack, which git-http-backend would start for it as well. */

import { beginWith, readOnce } from '../../conf/chunks.js'
import { firstLine, type Git, gitEnvironment, startGit } from '../process/git.js'
import { limitFailure } from '../process/git-limits.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'
import type { ProcessEnd, RunningProcess } from '../process/run.js'
import { protocolEnvironment } from './environment.js'
import { pumpBody, throwUploadError } from './upload.js'

/** One fetch, and what bounds it. */
export interface UploadPackCall {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** `Git-Protocol` as sent. */
  readonly gitProtocol?: string | undefined
  /** Decoded. When it throws, the fetch is off and the process group ends. */
  readonly body: AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Git's answer, which may still be on its way. */
export interface UploadPackAnswer {
  /**
   * `application/x-git-upload-pack-result`. Must be read or returned from; returning ends git.
   * Throws where the answer is not whole: with the error of the request's body where that is the
   * cause.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Settles when the process group is gone. Never rejects. */
  readonly ended: Promise<ProcessEnd>
}

/** That git could not make sense of a request, or of a repository. */
export class UploadPackError extends Error {
  override readonly name = 'UploadPackError'
}

/**
 * Lets git answer; settles with its first bytes, so that what goes wrong before is no answer that
 * broke off. Throws the error of the body, or UploadPackError with git's own first line.
 */
export async function callUploadPack(git: Git, call: UploadPackCall): Promise<UploadPackAnswer> {
  const running = startUploadPack(git, call)
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

/** A fetch whose answer goes into a file. */
export interface SpooledCall extends Omit<UploadPackCall, 'body'> {
  readonly request: Uint8Array
  /** An open file. */
  readonly outputFile: number
}

/** Lets git answer into a file, at its own pace. That it cannot be started is told by `ended`. */
export function spoolUploadPack(git: Git, call: SpooledCall): Omit<RunningProcess, 'output'> {
  const running = startUploadPack(git, call)
  void running.input.write(call.request).then(() => running.input.end())
  return running
}

function startUploadPack(
  git: Git,
  call: Omit<UploadPackCall, 'body'> & { readonly outputFile?: number },
): RunningProcess {
  const running = startGit(git, 'fetch', [git.file, 'upload-pack', '--stateless-rpc', '.'], {
    cwd: call.repositoryPath,
    environment: {
      ...gitEnvironment(git, { config: [] }),
      ...protocolEnvironment(call.gitProtocol),
    },
    outputFile: call.outputFile,
    signal: call.signal,
    timeoutMs: call.timeoutMs,
  })
  lowerPriority(running.pid, TRANSFER_NICENESS)
  return running
}
