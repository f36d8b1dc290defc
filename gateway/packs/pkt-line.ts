/** A strict parser of git's packet lines (gitprotocol-common(5) "pkt-line Format"). */

const FLUSH = '0000'
const DELIMITER = '0001'
const LENGTH_DIGITS = 4
const LINE_BYTES_MAX = 65_520

/** A text line without its newline, or a packet that ends a section. */
export type Packet = string | typeof FLUSH_PACKET | typeof DELIMITER_PACKET

export const FLUSH_PACKET = Symbol('flush-pkt')
export const DELIMITER_PACKET = Symbol('delim-pkt')

/** Parses a body that consists of whole packets. Returns undefined for any other body. */
export function readPackets(body: Buffer): readonly Packet[] | undefined {
  const reader = new PacketReader()
  const packets = reader.push(body)
  return reader.isBetween ? packets : undefined
}

/** A parser of packets that arrive in chunks. */
export class PacketReader {
  /** Bytes of an incomplete packet, in pieces, so that small chunks are not copied repeatedly. */
  #left: Buffer[] = []
  #leftBytes = 0
  /** Bytes with which the next packet, or its length, is complete. */
  #neededBytes = LENGTH_DIGITS

  /** True if all bytes belong to whole packets. */
  get isBetween(): boolean {
    return this.#leftBytes === 0
  }

  /** Returns the packets that the chunk completes; undefined if a length is malformed. */
  push(chunk: Buffer): readonly Packet[] | undefined {
    this.#left.push(chunk)
    this.#leftBytes += chunk.length
    if (this.#leftBytes < this.#neededBytes) return []
    const bytes = this.#left.length === 1 ? chunk : Buffer.concat(this.#left)
    const packets: Packet[] = []
    let position = 0
    this.#neededBytes = LENGTH_DIGITS
    while (position + LENGTH_DIGITS <= bytes.length) {
      const prefix = bytes.toString('latin1', position, position + LENGTH_DIGITS)
      if (prefix === FLUSH || prefix === DELIMITER) {
        packets.push(prefix === FLUSH ? FLUSH_PACKET : DELIMITER_PACKET)
        position += LENGTH_DIGITS
        continue
      }
      const length = /^[0-9a-f]{4}$/.test(prefix) ? Number.parseInt(prefix, 16) : 0
      if (length <= LENGTH_DIGITS || length > LINE_BYTES_MAX) return undefined
      const end = position + length
      if (end > bytes.length) {
        this.#neededBytes = length
        break
      }
      const hasNewline = bytes[end - 1] === 0x0a
      packets.push(bytes.toString('latin1', position + LENGTH_DIGITS, hasNewline ? end - 1 : end))
      position = end
    }
    this.#left = position === bytes.length ? [] : [bytes.subarray(position)]
    this.#leftBytes = bytes.length - position
    return packets
  }
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

/** Sideband of data, and the maximum bytes of it in a packet (gitprotocol-pack(5)). */
const DATA_BAND = '\u0001'
const DATA_BYTES_MAX = LINE_BYTES_MAX - LENGTH_DIGITS - DATA_BAND.length

/** Yields the bytes in pieces that fit into packets of side-band-64k. */
export function* sidebandPieces(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += DATA_BYTES_MAX) {
    yield bytes.subarray(start, start + DATA_BYTES_MAX)
  }
}

/** Returns a packet of side-band-64k in two parts, the second of which is the piece. */
export function sidebandPacket(piece: Buffer): readonly Buffer[] {
  const length = piece.length + LENGTH_DIGITS + DATA_BAND.length
  const head = length.toString(16).padStart(LENGTH_DIGITS, '0') + DATA_BAND
  return [Buffer.from(head, 'latin1'), piece]
}
