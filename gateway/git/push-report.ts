/** Git's report about a push of one ref, read from the answer while the client gets it. */

import { readOnce } from '../../conf/lib/chunks.js'
import { isLine, type Packet, readPackets } from '../packs/pkt-line.js'

/** Result of a push; `unknown` if the answer was not read to its end or is too long. */
export type PushResult = 'applied' | 'refused' | 'unknown'

export interface WatchedAnswer {
  readonly body: AsyncIterable<Uint8Array>
  /** Settles when the body was read to its end, has thrown, or was returned from. Never rejects. */
  readonly result: Promise<PushResult>
}

/** Messages of hooks and progress are part of the answer, so it has no length of its own. */
const ANSWER_BYTES_MAX = 262_144

/** Reads the result of a push of one ref from the answer, which must be of side-band-64k. */
export function watchReport(body: AsyncIterable<Uint8Array>, name: string): WatchedAnswer {
  const chunks = body[Symbol.asyncIterator]()
  const seen: Buffer[] = []
  let seenBytes = 0
  let resolve = (_result: PushResult): void => {}
  const result = new Promise<PushResult>((settle) => {
    resolve = settle
  })
  const next = async () => {
    try {
      const chunk = await chunks.next()
      if (chunk.done) {
        resolve(seenBytes > ANSWER_BYTES_MAX ? 'unknown' : resultOf(Buffer.concat(seen), name))
      } else {
        seenBytes += chunk.value.length
        // A copy, because the memory of the chunk may be reused.
        if (seenBytes <= ANSWER_BYTES_MAX) seen.push(Buffer.from(chunk.value))
      }
      return chunk
    } catch (error) {
      resolve('unknown')
      throw error
    }
  }
  const leave = async () => {
    resolve('unknown')
    await chunks.return?.()
  }
  return { body: readOnce(next, leave), result }
}

const REPORT_BAND = '\u0001'

/** Parses an answer in packets of side-band-64k (gitprotocol-pack(5), "Report Status"). */
function resultOf(answer: Buffer, name: string): PushResult {
  const report = linesOf(answer)
    ?.filter((line) => line.startsWith(REPORT_BAND))
    .map((line) => line.slice(REPORT_BAND.length))
    .join('')
  const lines = report === undefined ? undefined : linesOf(Buffer.from(report, 'latin1'))
  const bytesOfName = Buffer.from(name).toString('latin1')
  if (lines?.includes(`ok ${bytesOfName}`)) return 'applied'
  const isRefused = lines?.some(
    (line) => line.startsWith(`ng ${bytesOfName} `) || /^unpack (?!ok$)/.test(line),
  )
  return isRefused === true ? 'refused' : 'unknown'
}

function linesOf(bytes: Buffer): readonly string[] | undefined {
  const packets: readonly Packet[] | undefined = readPackets(bytes)
  return packets?.filter(isLine)
}
