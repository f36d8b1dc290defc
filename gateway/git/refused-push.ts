/** Refusal of a push whose client already sends its pack, in the form of git's own report. */

import type { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { packetLine } from '../packs/pkt-line.js'

const FLUSH = '0000'
const LENGTH_DIGITS = 4
/** Capabilities come with the first command, behind the commits of a shallow clone. */
const COMMANDS_BYTES_MAX = 1_048_576

/** True if a request brings a pack. Git shows its user only a refusal in the form of a report. */
export function bringsPack({ method, path, headers }: Request): boolean {
  return method === 'POST' && path.endsWith('/git-receive-pack') && !headers.has('content-encoding')
}

/** Returns a report of a failed unpack with the reason (gitprotocol-pack(5) "Report Status"). */
export function refusePush(failure: Failure, { body }: Pick<Request, 'body'>): Reply {
  return {
    status: 200,
    headers: [
      ['Content-Type', 'application/x-git-receive-pack-result'],
      ['Cache-Control', 'no-cache'],
    ],
    body: report(failure.message, body),
  }
}

async function* report(
  sentence: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const capabilities = await readCapabilities(body)
  // Before a large push, git sends an empty one to check its credentials; it expects no report.
  if (capabilities === undefined) return
  const status = packetLine(`unpack ${sentence}\n`) + FLUSH
  const isSideband = /\bside-band(?:-64k)?\b/.test(capabilities)
  yield Buffer.from(isSideband ? packetLine(`\u0001${status}`) + FLUSH : status)
}

/** Returns the text behind the NUL of the first command, or undefined if there is no command. */
async function readCapabilities(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  let text = ''
  let position = 0
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('latin1')
    while (text.length >= position + LENGTH_DIGITS) {
      const length = Number.parseInt(text.slice(position, position + LENGTH_DIGITS), 16)
      if (!(length > LENGTH_DIGITS)) return undefined
      if (text.length < position + length) break
      const [, capabilities] = text.slice(position, position + length).split('\0', 2)
      if (capabilities !== undefined) return capabilities
      position += length
    }
    if (text.length > COMMANDS_BYTES_MAX) return undefined
  }
  return undefined
}
