/** Extraction of the pack from the packets of git's answer to a fetch. */

/** Beginning of an answer that contains only a pack (gitprotocol-v2(5) "fetch"). */
const BEGINNING = '000dpackfile\n'
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
  const packets = new Packets()
  for await (const chunk of answer instanceof Uint8Array ? piecesOf(answer) : answer) {
    const pack = packets.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (pack.byteLength > 0) yield pack
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
  /** Received part of the answer's beginning or of a packet's header. */
  #head = ''
  #headBytes = BEGINNING.length
  #isOfPack = false
  /** Number of content bytes of the current packet that have not arrived. */
  #leftBytes = 0

  /** Returns a copy of the pack's bytes in a chunk. */
  take(chunk: Buffer): Uint8Array {
    const pack = Buffer.allocUnsafe(chunk.length)
    let packBytes = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.isWhole) throw new NoPack('the answer has data after the pack')
      const wanted = this.#leftBytes || this.#headBytes - this.#head.length
      const end = Math.min(chunk.length, at + wanted)
      if (this.#leftBytes === 0) {
        this.#readHead(chunk.toString('latin1', at, end))
      } else {
        if (this.#isOfPack) packBytes += chunk.copy(pack, packBytes, at, end)
        this.#leftBytes -= end - at
      }
      at = end
    }
    return pack.subarray(0, packBytes)
  }

  #readHead(text: string): void {
    this.#head += text
    if (this.#head.length < this.#headBytes) return
    if (this.#headBytes === BEGINNING.length) {
      if (this.#head !== BEGINNING) throw new NoPack('the answer does not contain only a pack')
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
