/** Requests to http.base_url, which may lead to this machine. */

import { parseHostSet } from '../../conf/host-set.js'
import { reasonOf } from '../../conf/lib/reason-of.js'
import { callOutbound, type OutboundAnswer } from '../outbound/client.js'

/** The administrator chooses where http.base_url leads. */
const ANYWHERE = parseHostSet(['0.0.0.0/0', '::/0'])

const ANSWER_MS = 10_000
/** The answers of all paths that are requested are shorter. */
const ANSWER_BYTES_MAX = 1_048_576

/** Returns the answer of a URL of this site. Throws an Error if it cannot be requested. */
export async function askSite(url: string, signal?: AbortSignal): Promise<OutboundAnswer> {
  const call = {
    url: new URL(url),
    allowPrivate: ANYWHERE,
    timeoutMs: ANSWER_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
    signal,
  }
  return await callOutbound(call).catch((error: unknown) => {
    throw new Error(
      `${url} cannot be requested (${reasonOf(error)}): correct http.base_url, the name server or the proxy`,
    )
  })
}
