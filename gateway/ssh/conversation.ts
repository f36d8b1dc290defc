/** Clones and fetches of protocol v2 over SSH, which the gateway answers without a git process. */

import { callBackend } from '../../cgi/transfer/backend.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { NO_BODY } from '../http/incoming-body.js'
import { advertiseFetch } from '../packs/advertisement.js'
import { enterQueue } from '../packs/enter-queue.js'
import { answerUploadPack } from '../packs/upload-pack.js'
import type { Context } from '../request/context.js'
import type { Channel } from './channel.js'
import { ClientRequests } from './client-requests.js'

/** Idle timeout of an SSH session, in both directions. */
export const SSH_IDLE_MS = 600_000

/** Value of GIT_PROTOCOL for which the gateway answers itself; for others, git is run. */
export const ANSWERED_PROTOCOL = 'version=2'

export interface ConversationOptions {
  readonly repositoryPath: string
  readonly repositoryBytes: number
  /** See `auth/client`. */
  readonly client: string
  readonly address: string
  /** Called before each request. Returns the refusal, or undefined if the client is authorized. */
  readonly refusal: () => Promise<string | undefined>
}

/** Outcome of a session. */
export interface ConversationEnd {
  /** Exit code; undefined if the client, the helper or a timeout ended the session. */
  readonly exitCode: number | undefined
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** Message to the client for an internal error. */
export const INTERNAL_ERROR_MESSAGE = 'Internal error of Gatehouse. The server log has the reason.'

/** Exit code of git for a fatal error. */
const FATAL_EXIT_CODE = 128

/** Answers requests until the client sends no more. Never rejects. */
export async function serveFetch(
  context: Context,
  channel: Channel,
  options: ConversationOptions,
): Promise<ConversationEnd> {
  const counts = { receivedBytes: 0, sentBytes: 0 }
  const requests = new ClientRequests(async () => {
    const chunk = await channel.read()
    counts.receivedBytes += chunk?.byteLength ?? 0
    return chunk
  })
  const say = async (body: Uint8Array | AsyncIterable<Uint8Array>) => {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      await channel.write(chunk)
      counts.sentBytes += chunk.byteLength
    }
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
    await say(await advertise(context, channel, options))
    for (let body = await requests.next(); body !== undefined; body = await requests.next()) {
      const refusal = await options.refusal()
      if (refusal !== undefined) return end(1, refusal)
      const { body: answer } = await answerUploadPack(context, {
        ...options,
        request: channel,
        gitProtocol: ANSWERED_PROTOCOL,
        body,
        client: () => options.client,
      })
      await say(answer)
      // Git has answered without reading the request to its end, so no further one can be read.
      if (!requests.isBetween) break
    }
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

/** Returns git's capabilities, which are sent before the client's first request. */
async function advertise(
  context: Context,
  { signal }: Channel,
  { repositoryPath, client, address }: ConversationOptions,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
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
        gitProtocol: ANSWERED_PROTOCOL,
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
    repositoryPath,
    gitProtocol: ANSWERED_PROTOCOL,
    ask,
  })
  if (status === 200 && typeof body === 'object') return body
  throw new Error(`git-http-backend does not serve ${repositoryPath}: status ${status}`)
}
