/** Clones and fetches of protocol v2 over SSH, which the gateway answers without a git process. */

import { answerUploadPack } from '../packs/upload-pack.js'
import type { Context } from '../request/context.js'
import type { Channel } from './channel.js'
import { ClientRequests } from './client-requests.js'
import { advertise, type FetchEnd, type FetchOptions, holdTalk } from './fetch-talk.js'

/** Answers requests until the client sends no more. Never rejects. */
export function serveFetch(
  context: Context,
  channel: Channel,
  options: FetchOptions,
): Promise<FetchEnd> {
  const converse: Parameters<typeof holdTalk>[2]['converse'] = async (talk) => {
    const requests = new ClientRequests(talk.read)
    await talk.say(await advertise(context, channel, options))
    for (let body = await requests.next(); body !== undefined; body = await requests.next()) {
      await talk.authorize()
      const { body: answer } = await answerUploadPack(context, {
        ...options,
        request: channel,
        body,
        client: () => options.client,
      })
      await talk.say(answer)
      // Git has answered without reading the request to its end, so no further one can be read.
      if (!requests.isBetween) break
    }
  }
  return holdTalk(context, channel, { options, converse })
}
