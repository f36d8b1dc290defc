/** The request of a clone or fetch that says what is wanted, answered by git upload-pack. */

import { createGunzip } from 'node:zlib'
import { repositoryPath } from '../../cgi/paths.js'
import { callUploadPack, UploadPackError } from '../../cgi/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { FETCH_REQUEST_BYTES_MAX } from '../../conf/limits.js'
import type { Repository } from '../../sql/repositories.js'
import type { Context } from '../context.js'
import { enterQueue, isGzip, refuseForeignBody } from './intake.js'

const HEADERS = [
  ['Content-Type', 'application/x-git-upload-pack-result'],
  ['Cache-Control', 'no-cache, max-age=0, must-revalidate'],
] as const

/**
 * Git's answer, streamed. Throws `unsupported_media_type` for a body of another kind,
 * `bad_request` for one that git cannot read, `payload_too_large`, and `unavailable` when too many
 * git processes run.
 */
export async function answerFetch(
  context: Context,
  request: Request,
  repository: Repository,
): Promise<Reply> {
  refuseForeignBody(request, 'git-upload-pack')
  const body = bounded(isGzip(request) ? gunzip(request.body) : request.body)
  const leave = await enterQueue(context, request, 'git-upload-pack')
  try {
    const answer = await callUploadPack(context.git, {
      repositoryPath: repositoryPath(context.settings.data.dir, repository.storage),
      gitProtocol: request.headers.get('git-protocol'),
      body,
      signal: request.signal,
      timeoutMs: context.settings.git.timeoutMs,
    })
    void answer.ended.then(({ exitCode }) => {
      leave()
      countOutcome(context, exitCode === 0)
    })
    return { status: 200, headers: HEADERS, body: answer.body }
  } catch (error) {
    leave()
    countOutcome(context, false)
    if (!(error instanceof UploadPackError)) throw error
    context.log.info({ requestId: request.id, error }, 'git could not read a fetch request')
    throw new Failure('bad_request', 'Git cannot read this request.', { cause: error })
  }
}

function countOutcome({ metrics }: Context, isDone: boolean): void {
  metrics.countGitService({ service: 'git-upload-pack', outcome: isDone ? 'ok' : 'failed' })
}

/** What a client wants and has is a list, not a pack: it ends. */
async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > FETCH_REQUEST_BYTES_MAX) {
      throw new Failure('payload_too_large', 'The request names too many objects.')
    }
    yield chunk
  }
}

/** Decompressed as it is read. Throws `bad_request` where it is not gzip, or not whole. */
async function* gunzip(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = createGunzip()
  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      decoder.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  const feed = async () => {
    for await (const chunk of body) await write(chunk)
    decoder.end()
  }
  feed().catch((error: Error) => decoder.destroy(error))
  try {
    yield* decoder
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('bad_request', 'The body is not whole gzip.', { cause })
  }
}
