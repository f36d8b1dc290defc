/** A clone or fetch of protocol v2, in which the gateway itself is who the client speaks to. */

import { callBackend } from '../../cgi/transfer/backend.js'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { SSH_IDLE_MS } from '../../conf/limits.js'
import { NO_BODY } from '../http/incoming-body.js'
import { advertiseFetch } from '../packs/advertisement.js'
import { enterQueue } from '../packs/enter-queue.js'
import { answerUploadPack } from '../packs/upload-pack.js'
import type { Context } from '../request/context.js'
import type { Channel } from './channel.js'
import { ClientRequests } from './client-requests.js'

/** The one value with which the gateway speaks itself; for all others git does. */
export const ANSWERED_PROTOCOL = 'version=2'

export interface ConversationOptions {
  readonly repositoryPath: string
  readonly repositoryBytes: number
  /** See `auth/client`. */
  readonly client: string
  readonly address: string
  /** Asked before each request: why the client may not go on; undefined where it may. */
  readonly refusal: () => Promise<string | undefined>
}

/** How it ended. */
export interface ConversationEnd {
  /** Undefined when the client, the helper or time ended it. */
  readonly exitCode: number | undefined
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** What the client reads of a fault of the house. */
export const INTERNAL_ERROR_MESSAGE = 'Gatehouse could not do this: its log says why.'

/** As git's own, for what it cannot do. */
const FATAL_EXIT_CODE = 128

/** Answers until the client has no more to ask. Never rejects. */
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
    // What is on its way to nobody ends early, as if it were whole.
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
      // Git has said its last word without having heard the client's.
      if (!requests.isBetween) break
    }
    return end(0, '')
  } catch (error) {
    if (error instanceof UploadPackError) return end(FATAL_EXIT_CODE, error.message)
    if (error instanceof Failure) return end(1, error.message)
    const { repositoryPath: path } = options
    if (!channel.signal.aborted) context.log.error({ error, path }, 'a conversation failed')
    return end(1, INTERNAL_ERROR_MESSAGE)
  } finally {
    clearTimeout(timer)
  }
}

/** What git says of itself before the client says anything. */
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
