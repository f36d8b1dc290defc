/** Advertisements of refs (gitprotocol-pack(5) "Reference Discovery"), made from their packets. */

import type { Reply } from '../../conf/http.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { ObjectFormat } from './normal-fetch.js'
import { packetLine } from './pkt-line.js'
import { LENGTH_DIGITS } from './reference-lines.js'

/** Parts of git's answer that do not depend on the refs. */
export interface AdvertisedParts {
  /** Packets before the first ref. */
  readonly beginning: string
  /** Text after the NUL of the first ref. */
  readonly capabilities: string
  readonly objectFormat: ObjectFormat
}

export const NULL_ID = {
  sha1: '0'.repeat(40),
  sha256: '0'.repeat(64),
} as const satisfies Record<ObjectFormat, string>

/** Returns the packets before the first ref (gitprotocol-http(5) "Smart Server Response"). */
export function beginningOf(service: 'git-receive-pack' | 'git-upload-pack', version = 0): string {
  const versionLine = version === 0 ? '' : packetLine(`version ${version}\n`)
  return `${packetLine(`# service=${service}\n`)}0000${versionLine}`
}

const FLUSH = Buffer.from('0000')

/** Returns the answer; a stream if the list has several pieces. */
export function advertisedBody(
  parts: AdvertisedParts,
  packets: IterableIterator<Buffer>,
): NonNullable<Reply['body']> {
  const first = packets.next()
  const { beginning, rest } = withCapabilities(first.done ? undefined : first.value, parts)
  const second = packets.next()
  if (second.done) return Buffer.concat([beginning, rest, FLUSH])
  const pieces = chain([beginning, rest, second.value], packets, [FLUSH])
  return readOnce(
    async () => pieces.next(),
    () => {},
  )
}

/** Returns the beginning of the answer up to its first ref, and the other packets of the piece. */
function withCapabilities(
  piece: Buffer | undefined,
  { beginning, capabilities, objectFormat }: AdvertisedParts,
): { readonly beginning: Buffer; readonly rest: Buffer } {
  const length = piece ? Number.parseInt(piece.toString('latin1', 0, LENGTH_DIGITS), 16) : 0
  const ref = piece
    ? piece.toString('latin1', LENGTH_DIGITS, length - '\n'.length)
    : `${NULL_ID[objectFormat]} capabilities^{}`
  return {
    beginning: Buffer.from(beginning + packetLine(`${ref}\0${capabilities}\n`), 'latin1'),
    rest: piece?.subarray(length) ?? Buffer.alloc(0),
  }
}

function* chain(...parts: readonly Iterable<Buffer>[]): Generator<Buffer, undefined> {
  for (const part of parts) yield* part
}

/** Capabilities that differ in each answer: the nonce for signed pushes, and the session id. */
const CHANGES_EACH_TIME = /(?:^| )(?:push-cert|session-id)=/

const FIRST_REF = /^[0-9a-f]{4}[0-9a-f]+ [^ \0\n]+\0([^\0\n]+)\n/

/** Returns the parts that git's answer shows; undefined if they are not the same each time. */
export function advertisedParts(text: string, beginning: string): AdvertisedParts | undefined {
  if (!text.startsWith(beginning)) return undefined
  const [, capabilities] = FIRST_REF.exec(text.slice(beginning.length)) ?? []
  if (capabilities === undefined || CHANGES_EACH_TIME.test(capabilities)) return undefined
  const [, objectFormat] = /(?:^| )object-format=(sha1|sha256)(?: |$)/.exec(capabilities) ?? []
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256') return undefined
  return { beginning, capabilities, objectFormat }
}
