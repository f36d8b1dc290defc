/** A strict parser of git's packet lines (gitprotocol-common(5) "pkt-line Format"). */

const FLUSH = '0000'
const DELIMITER = '0001'
const LENGTH_DIGITS = 4
const LINE_BYTES_MAX = 65_520

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
  const head: string[] = []
  const tail: string[] = []
  let section = head
  let position = 0
  while (position < body.length) {
    const prefix = body.toString('latin1', position, position + LENGTH_DIGITS)
    if (prefix === FLUSH) {
      const isLast = position + LENGTH_DIGITS === body.length
      return isLast ? { head, tail } : undefined
    }
    if (prefix === DELIMITER) {
      if (section === tail) return undefined
      section = tail
      position += LENGTH_DIGITS
      continue
    }
    const length = /^[0-9a-f]{4}$/.test(prefix) ? Number.parseInt(prefix, 16) : 0
    const end = position + length
    if (length <= LENGTH_DIGITS || length > LINE_BYTES_MAX || end > body.length) return undefined
    const hasNewline = body[end - 1] === 0x0a
    section.push(body.toString('latin1', position + LENGTH_DIGITS, hasNewline ? end - 1 : end))
    position = end
  }
  return undefined
}

/** Returns a packet: the text, preceded by its length as four hexadecimal digits. */
export function packetLine(text: string): string {
  const length = Buffer.byteLength(text, 'latin1') + LENGTH_DIGITS
  return length.toString(16).padStart(LENGTH_DIGITS, '0') + text
}
