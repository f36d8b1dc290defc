/** Extraction of the pack from the packets of git's answer to a fetch. */

/**
 * Beginnings of answers that contain only a pack, by the version of the protocol (gitprotocol-v2(5)
 * "fetch", gitprotocol-pack(5) "Packfile Negotiation").
 */
export const PACK_BEGINNINGS = { 0: '0008NAK\n', 2: '000dpackfile\n' } as const
const FLUSH = '0000'
const LENGTH_DIGITS = 4
/** Size of a packet's header: its length in 4 digits, and its sideband in 1 byte. */
const HEAD_BYTES = 5
const PACK_BAND = 1
const PROGRESS_BAND = 2

/** Size of the pieces in which an answer in memory is parsed. */
const PIECE_BYTES = 524_288

/** Error for an answer that is not a complete pack. */
export class NoPack extends Error {
  override readonly name = 'NoPack'
}

/** Yields the bytes of the pack. Throws NoPack if there is no pack or it is incomplete. */
export async function* readPackStream(
  answer: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const parts of readPackParts(answer, 2)) {
    // The parts are valid only until the next ones are requested.
    if (parts.length > 0) yield Buffer.concat(parts)
  }
}

/**
 * Yields the parts of the pack in each chunk of an answer, which are valid until the next ones are
 * requested. Throws NoPack if there is no pack or it is incomplete.
 */
export async function* readPackParts(
  answer: Uint8Array | AsyncIterable<Uint8Array>,
  version: 0 | 2,
): AsyncGenerator<readonly Buffer[]> {
  const packets = new Packets(PACK_BEGINNINGS[version])
  for await (const chunk of answer instanceof Uint8Array ? piecesOf(answer) : answer) {
    yield packets.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  }
  if (!packets.isWhole) throw new NoPack('the answer is incomplete')
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES)
  }
}

/** Incremental parser of packets, which may begin and end anywhere in a chunk. */
class Packets {
  isWhole = false
  readonly #beginning: string
  /** Received part of the answer's beginning or of a packet's header. */
  #head = ''
  #headBytes: number
  #isOfPack = false
  /** Number of content bytes of the current packet that have not arrived. */
  #leftBytes = 0

  constructor(beginning: string) {
    this.#beginning = beginning
    this.#headBytes = beginning.length
  }

  /** Returns the parts of a chunk that belong to the pack: one for each packet. */
  take(chunk: Buffer): readonly Buffer[] {
    const parts: Buffer[] = []
    for (let at = 0; at < chunk.length; ) {
      if (this.isWhole) throw new NoPack('the answer has data after the pack')
      const wanted = this.#leftBytes || this.#headBytes - this.#head.length
      const end = Math.min(chunk.length, at + wanted)
      if (this.#leftBytes === 0) {
        this.#readHead(chunk.toString('latin1', at, end))
      } else {
        if (this.#isOfPack) parts.push(chunk.subarray(at, end))
        this.#leftBytes -= end - at
      }
      at = end
    }
    return parts
  }

  #readHead(text: string): void {
    this.#head += text
    if (this.#head.length < this.#headBytes) return
    if (this.#headBytes === this.#beginning.length) {
      if (this.#head !== this.#beginning)
        throw new NoPack('the answer does not contain only a pack')
      this.#nextPacket()
    } else if (this.#headBytes === LENGTH_DIGITS) {
      this.isWhole = this.#head === FLUSH
      // Only packets with content have a sideband byte.
      this.#headBytes = HEAD_BYTES
    } else {
      const length = Number.parseInt(this.#head.slice(0, LENGTH_DIGITS), 16)
      const band = this.#head.charCodeAt(LENGTH_DIGITS)
      const isKnown = band === PACK_BAND || band === PROGRESS_BAND
      if (!isKnown || !(length >= HEAD_BYTES)) throw new NoPack('git reports an error')
      this.#isOfPack = band === PACK_BAND
      this.#leftBytes = length - HEAD_BYTES
      this.#nextPacket()
    }
  }

  #nextPacket(): void {
    this.#head = ''
    this.#headBytes = LENGTH_DIGITS
  }
}
