/** The request of a clone or fetch that says what is wanted. */

import { createGunzip } from 'node:zlib'
import { UploadPackError } from '../../cgi/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import type { Grants } from '../auth/gate.js'
import type { Context } from '../context.js'
import { answerUploadPack, type UploadPackReply } from '../packs/upload-pack.js'
import { offerBundle } from './bundle.js'
import { isGzip, packQuestionOf, refuseForeignBody } from './intake.js'

const HEADERS = Object.freeze([
  ['Content-Type', 'application/x-git-upload-pack-result'],
  ['Cache-Control', 'no-cache, max-age=0, must-revalidate'],
] as const)

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
  try {
    const answer = await answerUploadPack(context, {
      ...question,
      gitProtocol: request.headers.get('git-protocol'),
      body: isGzip(request) ? gunzip(request.body) : request.body,
      answerFirst: (body) => offerBundle(context, { question, grant }, body),
    })
    return replyOf(answer, grant.user?.isAdmin === true)
  } catch (error) {
    if (!(error instanceof UploadPackError)) throw error
    context.log.info({ requestId: request.id, error }, 'git could not read a fetch request')
    throw new Failure('bad_request', 'Git cannot read this request.', { cause: error })
  }
}

/** An administrator is told how the answer was come by (Server-Timing, as browsers show it). */
function replyOf({ body, bytes, outcome, isList }: UploadPackReply, isAdmin: boolean): Reply {
  const timing = ['Server-Timing', `cache;desc=${outcome}`] as const
  const headers = isAdmin && outcome !== undefined ? [...HEADERS, timing] : HEADERS
  const length = bytes === undefined ? {} : { bodyBytes: bytes }
  return { status: 200, headers, body, ...length, isRoutine: isList }
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
