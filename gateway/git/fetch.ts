/** Requests to git-upload-pack (clone, fetch and ls-refs). */

import { createGunzip } from 'node:zlib'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { Grants } from '../auth/authorize.js'
import { answerUploadPack, type UploadPackReply } from '../packs/upload-pack.js'
import type { Context } from '../request/context.js'
import { offerBundle } from './bundle.js'
import { isGzip, packRequestOf, refuseForeignBody } from './intake.js'

const HEADERS = Object.freeze([
  ['Content-Type', 'application/x-git-upload-pack-result'],
  ['Cache-Control', 'no-cache, max-age=0, must-revalidate'],
] as const)

/**
 * Returns git's answer, from the pack cache if it has the same answer. Throws
 * `unsupported_media_type` for a body of another type, `bad_request` for one that git cannot read,
 * `payload_too_large`, and `unavailable` or `throttled` if too many git processes run.
 */
export function answerFetch(
  context: Context,
  request: Request,
  grant: Grants['repository'],
): Awaitable<Reply> {
  refuseForeignBody(request, 'git-upload-pack')
  const question = packRequestOf(context, request, grant)
  const { repositoryPath, repositoryBytes, client } = question
  const answer = answerUploadPack(context, {
    repositoryPath,
    repositoryBytes,
    client,
    request,
    gitProtocol: request.headers.get('git-protocol'),
    body: isGzip(request) ? gunzip(request.body) : request.body,
    answerUnknown: (body) => offerBundle(context, { question, grant }, body),
  })
  const isAdmin = grant.user?.isAdmin === true
  if (!(answer instanceof Promise)) return replyOf(answer, isAdmin)
  return answer.then(
    (reply) => replyOf(reply, isAdmin),
    (error: unknown) => {
      if (!(error instanceof UploadPackError)) throw error
      context.log.info({ requestId: request.id, error }, 'git could not read a fetch request')
      throw new Failure('bad_request', 'Git cannot read this request.', { cause: error })
    },
  )
}

/** Returns the reply. For administrators it has the cache outcome in the header Server-Timing. */
function replyOf(answer: UploadPackReply, isAdmin: boolean): Reply {
  const { body, bytes, outcome, file } = answer
  const isNotified = isAdmin && outcome !== undefined
  const headers = isNotified ? [...HEADERS, timingOf(outcome)] : HEADERS
  const isRoutine = answer.command === 'ls-refs'
  if (bytes === undefined) return { status: 200, headers, body, isRoutine }
  return { status: 200, headers, body, bodyBytes: bytes, bodyFile: file, isRoutine }
}

function timingOf(outcome: string): readonly [name: string, value: string] {
  return ['Server-Timing', `cache;desc=${outcome}`]
}

/** Decompresses a body while it is read. Throws `bad_request` for incomplete or invalid gzip. */
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
    throw new Failure('bad_request', 'The body is not complete gzip data.', { cause })
  }
}
