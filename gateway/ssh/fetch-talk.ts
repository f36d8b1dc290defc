/** The parts of a fetch over SSH that all protocol versions share: bytes, end, time limit, refs. */

import { callBackend } from '../../cgi/transfer/backend.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { NO_BODY } from '../http/incoming-body.js'
import { advertiseFetch } from '../packs/advertisement.js'
import { enterQueue } from '../packs/enter-queue.js'
import type { Context } from '../request/context.js'
import type { Channel } from './channel.js'

/** Idle timeout of an SSH session, in both directions. */
export const SSH_IDLE_MS = 600_000

export interface FetchOptions {
  readonly repositoryPath: string
  readonly repositoryBytes: number
  /** See `auth/client`. */
  readonly client: string
  readonly address: string
  /** `GIT_PROTOCOL` as sent. */
  readonly gitProtocol: string
  /** Called before each request. Returns the refusal, or undefined if the client is authorized. */
  readonly refusal: () => Promise<string | undefined>
}

/** Outcome of a session. */
export interface FetchEnd {
  /** Exit code; undefined if the client, the helper or a timeout ended the session. */
  readonly exitCode: number | undefined
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** Bytes of a body, complete or not. */
export type Body = Uint8Array | AsyncIterable<Uint8Array>

/** The client's side of a fetch. */
export interface FetchTalk {
  /** Returns the client's next bytes; undefined at their end. */
  read(): Promise<Buffer | undefined>
  /** Sends a body. Throws if the client disconnects. */
  say(body: Body): Promise<void>
  /** Throws `forbidden` if the client's access was revoked. Must precede each answer. */
  authorize(): Promise<void>
}

/** Message to the client for an internal error. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error of Gatehouse. The server log has the reason.'

/** Exit code of git for a fatal error. */
const FATAL_EXIT_CODE = 128

/** Holds a conversation, and ends the session with its outcome. Never rejects. */
export async function holdTalk(
  context: Context,
  channel: Channel,
  { options, converse }: { options: FetchOptions; converse: (talk: FetchTalk) => Promise<void> },
): Promise<FetchEnd> {
  const counts = { receivedBytes: 0, sentBytes: 0 }
  const talk: FetchTalk = {
    async read() {
      const chunk = await channel.read()
      counts.receivedBytes += chunk?.byteLength ?? 0
      return chunk
    },
    async say(body) {
      for await (const chunk of chunksOf(body)) {
        // An empty message is the end of the bytes.
        if (chunk.byteLength === 0) continue
        await channel.write(chunk)
        counts.sentBytes += chunk.byteLength
      }
    },
    async authorize() {
      const refusal = await options.refusal()
      if (refusal !== undefined) throw new Failure('forbidden', refusal)
    },
  }
  const end = (exitCode: number, sentence: string) => {
    // After the helper has disconnected, an answer may have ended early without an error.
    if (channel.signal.aborted) return { exitCode: undefined, ...counts }
    channel.finish()
    channel.send('end', String(exitCode), sentence)
    return { exitCode, ...counts }
  }
  const timer = setTimeout(() => channel.destroy(), context.settings.git.timeoutMs)
  channel.listen()
  channel.send('talk', String(SSH_IDLE_MS / 1_000))
  try {
    await converse(talk)
    return end(0, '')
  } catch (error) {
    if (error instanceof UploadPackError) return end(FATAL_EXIT_CODE, error.message)
    if (error instanceof Failure) return end(1, error.message)
    const { repositoryPath: path } = options
    if (!channel.signal.aborted) context.log.error({ error, path }, 'a fetch over SSH failed')
    return end(1, INTERNAL_ERROR_MESSAGE)
  } finally {
    clearTimeout(timer)
  }
}

export function chunksOf(body: Body): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  return body instanceof Uint8Array ? [body] : body
}

/** Returns git's advertisement in the form of HTTP: capabilities, or in v0 and v1 the refs. */
export async function advertise(
  context: Context,
  { signal }: Channel,
  { repositoryPath, client, address, gitProtocol }: FetchOptions,
): Promise<Body> {
  const ask = async (): Promise<Reply> => {
    const entry = { signal, service: 'git-upload-pack', repositoryPath, client } as const
    const leave = await enterQueue(context, entry)
    try {
      const answer = await callBackend(context.git, {
        repositoryPath,
        method: 'GET',
        suffix: 'info/refs',
        service: 'git-upload-pack',
        gzip: false,
        gitProtocol,
        remoteAddress: address,
        config: [],
        body: NO_BODY,
        signal,
        timeoutMs: context.settings.git.timeoutMs,
      })
      void answer.ended.then(leave)
      return { status: answer.status, headers: answer.headers, body: answer.body }
    } catch (error) {
      leave()
      throw error
    }
  }
  const { status, body } = await advertiseFetch({
    git: context.git,
    repositoryPath,
    gitProtocol,
    ask,
    references: (objectFormat, state) =>
      context.packCache.presentReferences(
        { repositoryPath, client: () => client, state },
        objectFormat,
      ),
  })
  if (status === 200 && typeof body === 'object') return body
  throw new Error(`git-http-backend does not serve ${repositoryPath}: status ${status}`)
}
