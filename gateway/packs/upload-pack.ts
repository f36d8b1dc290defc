/** Handling of a request to upload-pack over HTTP or SSH, from the pack cache or by git. */

import type { Git } from '../../cgi/process/git.js'
import { protocolVersionOf } from '../../cgi/transfer/environment.js'
import { callUploadPack, type UploadPackAnswer } from '../../cgi/transfer/upload-pack.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { Settings } from '../../conf/settings.js'
import { enterQueue, type QueueContext } from './enter-queue.js'
import type { PackCache, PackCacheLabels, WarmRequest } from './pack-cache.js'
import { joined, readAhead } from './read-ahead.js'
import type { WarmAnswer } from './warm-answer.js'
import { readWholeFetch, tooManyObjects } from './whole-fetch.js'

/** Maximum size of a fetch request: the wants and haves of a repository with 200,000 refs. */
export const FETCH_REQUEST_BYTES_MAX = 33_554_432

/** Dependencies of this module; the context of a request has them. */
export interface UploadPackContext extends QueueContext {
  readonly git: Git
  readonly settings: Pick<Settings, 'git'>
  readonly packCache: Pick<PackCache, 'answer' | 'refuse'>
  readonly metrics: QueueContext['metrics'] & {
    countPackCache(labels: PackCacheLabels): void
    countPackBytes(labels: PackCacheLabels, bytes: number): void
  }
}

/** An upload-pack request of a client that may read the repository. */
export interface UploadPackRequest extends WarmRequest {
  /** Protocol version as sent, such as `version=2`. */
  readonly gitProtocol: string | undefined
  /** Decoded body of any length. */
  readonly body: AsyncIterable<Uint8Array>
  /** Answers a request of version 2 that is unknown to the pack cache, if the surface can. */
  readonly answerUnknown?: (body: Buffer) => Awaitable<Buffer | undefined>
}

export interface UploadPackReply {
  readonly body: WarmAnswer['body']
  /** Length of the body; absent if it is not known yet. */
  readonly bytes?: number
  /** Source of the answer; this and `command` are absent if the pack cache did not answer. */
  readonly outcome?: WarmAnswer['outcome']
  readonly command?: WarmAnswer['command']
  /** See `Reply.bodyFile`. */
  readonly file?: (() => string | undefined) | undefined
}

const PAST_CACHE = { command: 'other', outcome: 'bypass' } as const

/** Maximum bytes of a request for the pack cache: enough for 5,000 wants and haves. */
const WARM_REQUEST_BYTES_MAX = 262_144

/**
 * Answers a request as git would, from the pack cache if possible. Throws UploadPackError if git
 * rejects the request, `payload_too_large` if it is longer than FETCH_REQUEST_BYTES_MAX, and
 * `unavailable` or `throttled` if too many git processes run.
 */
export function answerUploadPack(
  context: UploadPackContext,
  uploadRequest: UploadPackRequest,
): Awaitable<UploadPackReply> {
  const version = protocolVersionOf(uploadRequest.gitProtocol)
  return after(readAhead(uploadRequest.body, WARM_REQUEST_BYTES_MAX), ({ beginning, rest }) => {
    const ask = (): Promise<UploadPackReply> => {
      const body = bounded(joined(beginning, rest))
      return version === 2
        ? askAllowed(context, { ...uploadRequest, body })
        : runUploadPack(context, { ...uploadRequest, body })
    }
    if (rest !== undefined) return ask()
    return after(context.packCache.answer(uploadRequest, beginning, version), (warm) => {
      if (warm !== undefined) return count(context, warm)
      if (version !== 2) return ask()
      return after(uploadRequest.answerUnknown?.(beginning), (own) =>
        own === undefined ? ask() : { body: own, bytes: own.byteLength },
      )
    })
  })
}

/** Lets git answer a request of version 2, unless it wants a commit that no ref reaches. */
async function askAllowed(
  context: UploadPackContext,
  uploadRequest: UploadPackRequest,
): Promise<UploadPackReply> {
  const fetch = await readWholeFetch(uploadRequest.body).catch((error: unknown) => {
    countOutcome(context, 'failed')
    throw error
  })
  try {
    const refusal = await context.packCache.refuse(uploadRequest, fetch.wants)
    if (refusal !== undefined) return count(context, refusal)
    // Git has read the request before its first byte.
    return await runUploadPack(context, { ...uploadRequest, body: fetch.replay() })
  } finally {
    fetch.close()
  }
}

function count({ metrics }: UploadPackContext, warm: WarmAnswer): UploadPackReply {
  metrics.countPackCache(warm)
  if (warm.body instanceof Uint8Array) {
    metrics.countPackBytes(warm, warm.body.byteLength)
    return warm
  }
  const body = counted(warm.body, (bytes) => metrics.countPackBytes(warm, bytes))
  const { file, bytes = 0 } = warm
  if (file === undefined) return { ...warm, body }
  const countedFile = () => {
    const path = file()
    if (path !== undefined) metrics.countPackBytes(warm, bytes)
    return path
  }
  return { ...warm, body, file: countedFile }
}

/** Wraps a body so that `onChunk` is called with the length of each chunk when it is read. */
function counted(
  body: AsyncIterable<Uint8Array>,
  onChunk: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  const next = async () => {
    const result = await chunks.next()
    if (!result.done) onChunk(result.value.byteLength)
    return result
  }
  return readOnce(next, () => chunks.return?.())
}

/** A request for git, whose body ends with one round, or with the client's last one. */
export interface GitRequest extends UploadPackRequest {
  /** See `UploadPackCall`. */
  readonly isStateful?: boolean
}

/** Lets git answer, in the queue and with its metrics. Throws as `answerUploadPack` does. */
export async function runUploadPack(
  context: UploadPackContext,
  { request: { signal }, client, ...request }: GitRequest,
): Promise<UploadPackAnswer> {
  const { repositoryPath } = request
  context.metrics.countPackCache(PAST_CACHE)
  const freeSlot = await enterQueue(context, {
    signal,
    service: 'git-upload-pack',
    client: client(),
    repositoryPath,
  })
  try {
    const answer = await callUploadPack(context.git, {
      ...request,
      signal,
      timeoutMs: context.settings.git.timeoutMs,
    })
    void answer.ended.then(({ exitCode }) => {
      freeSlot()
      countOutcome(context, exitCode === 0 ? 'ok' : 'failed')
    })
    const onChunk = (bytes: number) => context.metrics.countPackBytes(PAST_CACHE, bytes)
    return { body: counted(answer.body, onChunk), ended: answer.ended }
  } catch (error) {
    freeSlot()
    countOutcome(context, 'failed')
    throw error
  }
}

function countOutcome({ metrics }: UploadPackContext, outcome: 'ok' | 'failed'): void {
  metrics.countGitService({ service: 'git-upload-pack', outcome })
}

/** Yields the body, and throws `payload_too_large` beyond FETCH_REQUEST_BYTES_MAX. */
async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > FETCH_REQUEST_BYTES_MAX) throw tooManyObjects()
    yield chunk
  }
}
