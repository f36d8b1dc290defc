/** A strict parser of git's packet lines (gitprotocol-common(5) "pkt-line Format"). */

const FLUSH = '0000'
const DELIMITER = '0001'
const LENGTH_DIGITS = 4
const LINE_BYTES_MAX = 65_520

/** A text line without its newline, or a packet that ends a section. */
export type Packet = string | typeof FLUSH_PACKET | typeof DELIMITER_PACKET

export const FLUSH_PACKET = Symbol('flush-pkt')
export const DELIMITER_PACKET = Symbol('delim-pkt')

/**
 * Parses a body that consists of whole packets. Returns undefined for any other body; if it may be
 * truncated, returns its whole packets.
 */
export function readPackets(
  body: Buffer,
  { isTruncated = false }: { readonly isTruncated?: boolean } = {},
): readonly Packet[] | undefined {
  const packets: Packet[] = []
  let position = 0
  while (position < body.length) {
    const prefix = body.toString('latin1', position, position + LENGTH_DIGITS)
    if (prefix === FLUSH || prefix === DELIMITER) {
      packets.push(prefix === FLUSH ? FLUSH_PACKET : DELIMITER_PACKET)
      position += LENGTH_DIGITS
      continue
    }
    const length = /^[0-9a-f]{4}$/.test(prefix) ? Number.parseInt(prefix, 16) : 0
    const end = position + length
    if (length <= LENGTH_DIGITS || length > LINE_BYTES_MAX || end > body.length) {
      return isTruncated ? packets : undefined
    }
    const hasNewline = body[end - 1] === 0x0a
    packets.push(body.toString('latin1', position + LENGTH_DIGITS, hasNewline ? end - 1 : end))
    position = end
  }
  return packets
}

/** Lines of a protocol v2 request, without the packets that end a section. */
export interface PacketSections {
  /** Lines before the delimiter packet. */
  readonly head: readonly string[]
  /** Lines between the delimiter packet and the flush packet. */
  readonly tail: readonly string[]
}

/**
 * Parses a body that contains exactly one protocol v2 request. Returns undefined for any other
 * body; git itself may still accept it.
 */
export function readSections(body: Buffer): PacketSections | undefined {
  const packets = readPackets(body)
  if (packets?.at(-1) !== FLUSH_PACKET) return undefined
  const lines = packets.slice(0, -1)
  const at = lines.indexOf(DELIMITER_PACKET)
  const head = at < 0 ? lines : lines.slice(0, at)
  const tail = at < 0 ? [] : lines.slice(at + 1)
  return head.every(isLine) && tail.every(isLine) ? { head, tail } : undefined
}

export function isLine(packet: Packet): packet is string {
  return typeof packet === 'string'
}

/** Returns a packet: the text, preceded by its length as four hexadecimal digits. */
export function packetLine(text: string): string {
  const length = Buffer.byteLength(text, 'latin1') + LENGTH_DIGITS
  return length.toString(16).padStart(LENGTH_DIGITS, '0') + text
}
