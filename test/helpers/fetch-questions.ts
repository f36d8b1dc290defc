/** Requests to upload-pack that are compared, and changes of their lines. */

import { randomInt } from 'node:crypto'
import { packetLine } from './git-requests.js'
import { pick } from './random.js'

/** A request to upload-pack, and the version of its protocol. */
export interface Question {
  readonly version: 0 | 2
  readonly body: Buffer
}

export function command(name: string, lines: readonly string[]): Question {
  const head = packetLine(`command=${name}`) + packetLine(`agent=test/${randomInt(3)}`)
  const format = packetLine('object-format=sha1')
  const body = Buffer.from(
    `${head}${format}0001${lines.map((line) => packetLine(`${line}\n`)).join('')}0000`,
  )
  return { version: 2, body }
}

/** A line whose removal changes the answer to a fetch. */
const REMOVABLE = /^.{4}(?:have |shallow |deepen|filter |include-tag|thin-pack|ofs-delta|done)/

/** Returns the request without one of its lines, so that its answer differs only by that line. */
export function vary(question: Question): Question {
  const all = packetsOf(question.body).map((_, at) => without(question, at))
  const shorter = all.filter((one) => one !== undefined)
  return shorter.length === 0 ? question : pick(shorter)
}

/** Returns the request without one of its packets; undefined if it must have that packet. */
export function without({ version, body }: Question, at: number): Question | undefined {
  const packets = packetsOf(body)
  const packet = packets[at] ?? ''
  if (!REMOVABLE.test(packet)) return undefined
  // In version 0, a request without `done` ends with a flush packet.
  const isEnd = version === 0 && packet.includes('done')
  return { version, body: Buffer.from(packets.with(at, isEnd ? '0000' : '').join(''), 'latin1') }
}

export function packetsOf(body: Buffer): readonly string[] {
  const packets: string[] = []
  for (let at = 0; at < body.length; ) {
    const length = Math.max(4, Number.parseInt(body.toString('latin1', at, at + 4), 16))
    packets.push(body.toString('latin1', at, at + length))
    at += length
  }
  return packets
}

/** Returns the request of version 2 of a client that sends no more commits. */
export function withDone(body: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, -4), Buffer.from(`${packetLine('done\n')}0000`)])
}
