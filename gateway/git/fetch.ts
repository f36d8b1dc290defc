/** The request of a clone or fetch that says what is wanted, answered by git upload-pack. */

import { createGunzip } from 'node:zlib'
import { callUploadPack, UploadPackError } from '../../cgi/upload-pack.js'
import { readOnce } from '../../conf/chunks.js'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { FETCH_REQUEST_BYTES_MAX } from '../../conf/limits.js'
import type { Grants } from '../auth/gate.js'
import type { Context } from '../context.js'
import { offerBundle } from './bundle.js'
import { enterQueue, isGzip, packQuestionOf, refuseForeignBody } from './intake.js'
import type { WarmAnswer } from './pack-cache.js'

const HEADERS = [
  ['Content-Type', 'application/x-git-upload-pack-result'],
  ['Cache-Control', 'no-cache, max-age=0, must-revalidate'],
] as const

const PAST_CACHE = { command: 'other', outcome: 'bypass' } as const

/** What a clone says fits in this; a longer request, with all that a client has, goes to git. */
const WARM_REQUEST_BYTES_MAX = 65_536

/**
 * What git answers, from the pack cache where that can be shown to be it. Throws
 * `unsupported_media_type` for a body of another kind, `bad_request` for one that git cannot read,
 * `payload_too_large`, and `unavailable` or `throttled` when too many git processes run.
 */
export async function answerFetch(
  context: Context,
  request: Request,
  grant: Grants['repository'],
): Promise<Reply> {
  refuseForeignBody(request, 'git-upload-pack')
  const question = packQuestionOf(context, request, grant)
  let body = isGzip(request) ? gunzip(request.body) : request.body
  try {
    if (request.headers.get('git-protocol') === 'version=2') {
      const { beginning, rest } = await readAhead(body, WARM_REQUEST_BYTES_MAX)
      if (rest === undefined) {
        const offer = await offerBundle(context, { question, grant }, beginning)
        if (offer !== undefined) return { status: 200, headers: HEADERS, body: offer }
        const warm = await context.packCache.answer({ ...question, body: beginning })
        if (warm !== undefined) return replyOf(context, warm, grant.user?.isAdmin === true)
      }
      body = joined(beginning, rest)
    }
    context.metrics.countPackCache(PAST_CACHE)
    const { client, repositoryPath } = question
    const cold = { request, client, body: bounded(body), repositoryPath }
    return await runUploadPack(context, cold)
  } catch (error) {
    if (!(error instanceof UploadPackError)) throw error
    context.log.info({ requestId: request.id, error }, 'git could not read a fetch request')
    throw new Failure('bad_request', 'Git cannot read this request.', { cause: error })
  }
}

/** An administrator is told how the answer was come by (Server-Timing, as browsers show it). */
function replyOf({ metrics }: Context, warm: WarmAnswer, isAdmin: boolean): Reply {
  metrics.countPackCache(warm)
  const body = counted(warm.body, (bytes) => metrics.countPackBytes(warm, bytes))
  const length = warm.bytes === undefined ? {} : { bodyBytes: warm.bytes }
  const timing = ['Server-Timing', `cache;desc=${warm.outcome}`] as const
  const headers = isAdmin ? [...HEADERS, timing] : HEADERS
  return { status: 200, headers, body, ...length, isRoutine: warm.command === 'ls-refs' }
}

/** The same body; it tells how many bytes went out with each chunk that was asked for. */
function counted(body: WarmAnswer['body'], count: (bytes: number) => void): WarmAnswer['body'] {
  if (body instanceof Uint8Array) {
    count(body.byteLength)
    return body
  }
  const chunks = body[Symbol.asyncIterator]()
  const next = async () => {
    const result = await chunks.next()
    if (!result.done) count(result.value.byteLength)
    return result
  }
  return readOnce(next, () => chunks.return?.())
}

interface ColdFetch {
  readonly request: Request
  readonly client: string
  readonly body: AsyncIterable<Uint8Array>
  readonly repositoryPath: string
}

async function runUploadPack(
  context: Context,
  { request, client, body, repositoryPath }: ColdFetch,
): Promise<Reply> {
  const { signal } = request
  const entry = { signal, service: 'git-upload-pack', repositoryPath, client } as const
  const leave = await enterQueue(context, entry)
  try {
    const answer = await callUploadPack(context.git, {
      repositoryPath,
      gitProtocol: request.headers.get('git-protocol'),
      body,
      signal,
      timeoutMs: context.settings.git.timeoutMs,
    })
    void answer.ended.then(({ exitCode }) => {
      leave()
      countOutcome(context, exitCode === 0)
    })
    const count = (bytes: number) => context.metrics.countPackBytes(PAST_CACHE, bytes)
    return { status: 200, headers: HEADERS, body: counted(answer.body, count) }
  } catch (error) {
    leave()
    countOutcome(context, false)
    throw error
  }
}

function countOutcome({ metrics }: Context, isDone: boolean): void {
  metrics.countGitService({ service: 'git-upload-pack', outcome: isDone ? 'ok' : 'failed' })
}

interface Beginning {
  readonly beginning: Buffer
  /** Absent when the beginning is all of it. */
  readonly rest: AsyncIterator<Uint8Array> | undefined
}

/** Reads a body to its end, or until it is longer than that. */
async function readAhead(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Beginning> {
  const chunks: Buffer[] = []
  let bytes = 0
  const rest = body[Symbol.asyncIterator]()
  while (bytes <= bytesMax) {
    const { done, value } = await rest.next()
    if (done) return { beginning: Buffer.concat(chunks), rest: undefined }
    chunks.push(Buffer.from(value))
    bytes += value.byteLength
  }
  return { beginning: Buffer.concat(chunks), rest }
}

async function* joined(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  yield beginning
  for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) {
    yield next.value
  }
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
