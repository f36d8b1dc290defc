/** Stateless fetches of protocol v0 and v1 in normal form (gitprotocol-pack(5)). */

import { type FetchRequest, normalFetch, type ObjectFormat, V0_ENDS } from './normal-fetch.js'
import { FLUSH_PACKET, isLine, readPackets } from './pkt-line.js'

/** Capabilities that change only the form of an answer, or allow an argument. */
const CAPABILITIES = [
  'multi_ack',
  'multi_ack_detailed',
  'no-done',
  'thin-pack',
  'side-band',
  'side-band-64k',
  'ofs-delta',
  'no-progress',
  'include-tag',
  'deepen-since',
  'deepen-not',
  'deepen-relative',
  'filter',
]

/** Capabilities that git does not read. go-git sends `shallow`. */
const WITHOUT_EFFECT = /^(?:(?:agent|session-id|object-format)=.*|shallow)$/

const FLAGS: ReadonlySet<string> = new Set([...CAPABILITIES, ...V0_ENDS])

/**
 * Parses the body of a request: the wants, a flush-pkt, what the client has, and `done`, a
 * flush-pkt or nothing. Git reads no further in a stateless request. Returns undefined for any
 * other body.
 */
export function normalizeV0(body: Buffer): FetchRequest | undefined {
  const packets = readPackets(body)
  const middle = packets?.indexOf(FLUSH_PACKET) ?? -1
  if (packets === undefined || middle < 1) return undefined
  const [first, ...wants] = packets.slice(0, middle)
  const rest = packets.slice(middle + 1)
  const hasFlush = rest.at(-1) === FLUSH_PACKET
  const haves = hasFlush ? rest.slice(0, -1) : rest
  if (first === undefined || !isLine(first)) return undefined
  if (!wants.every(isLine) || !haves.every(isLine)) return undefined
  if (!wants.every(isWant) || !haves.every((line, at) => isHave(line, at === rest.length - 1))) {
    return undefined
  }
  const [want, capabilities] = splitFirst(first)
  const objectFormat = formatOf(capabilities)
  if (objectFormat === undefined) return undefined
  // Without a common commit git is never ready, so `no-done`, which only a stateless server offers,
  // has no effect, and clones over HTTP and SSH are equal.
  const hasHave = haves.some((line) => line !== 'done')
  const flags = capabilities.filter(
    (name) => !WITHOUT_EFFECT.test(name) && (hasHave || name !== 'no-done'),
  )
  const end = hasFlush ? ['flush'] : []
  // A capability must not be taken for an argument of another place.
  if (flags.some((name) => V0_ENDS.has(name))) return undefined
  const lines = [want, ...wants, ...haves, ...flags, ...end]
  return normalFetch(lines, { version: 0, objectFormat, flags: FLAGS })
}

/** Splits the first line into its want and the capabilities. */
function splitFirst(line: string): readonly [want: string, capabilities: readonly string[]] {
  const [command = '', oid = '', ...capabilities] = line.split(' ')
  return [`${command} ${oid}`, capabilities.filter((name) => name !== '')]
}

/** True for a line of the first part that has a value: flags are capabilities of the first line. */
function isWant(line: string): boolean {
  return /^(?:want|shallow|deepen|deepen-since|deepen-not|filter) /.test(line)
}

function isHave(line: string, isLast: boolean): boolean {
  return line.startsWith('have ') || (isLast && line === 'done')
}

function formatOf(capabilities: readonly string[]): ObjectFormat | undefined {
  const formats = capabilities.filter((name) => name.startsWith('object-format='))
  if (formats.length > 1) return undefined
  const [format = 'sha1'] = formats.map((name) => name.slice('object-format='.length))
  return format === 'sha1' || format === 'sha256' ? format : undefined
}
