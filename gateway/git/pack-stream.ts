/** The pack in git's answer to a fetch, freed of the packets around it. */

/** gitprotocol-v2(5) "fetch": how an answer begins that holds a pack and nothing else. */
const BEGINNING = '000dpackfile\n'
const FLUSH = '0000'
const LENGTH_DIGITS = 4
/** What stands in a packet before its content: its length, and the band that it is on. */
const HEAD_BYTES = 5
const PACK_BAND = 1
const PROGRESS_BAND = 2

/** So much of an answer in memory is taken apart at a time. */
const PIECE_BYTES = 524_288

/** That an answer is not a whole pack. */
export class NoPack extends Error {
  override readonly name = 'NoPack'
}

/** The bytes of the pack. Throws NoPack where there is none, or where it breaks off. */
export async function* readPackStream(
  answer: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const packets = new Packets()
  for await (const chunk of answer instanceof Uint8Array ? piecesOf(answer) : answer) {
    const pack = packets.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (pack.byteLength > 0) yield pack
  }
  if (!packets.isWhole) throw new NoPack('the answer breaks off')
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES)
  }
}

/** How far an answer has been read: its packets begin and end anywhere in a chunk. */
class Packets {
  isWhole = false
  /** What has come of the beginning, or of a packet's head. */
  #head = ''
  #headBytes = BEGINNING.length
  #isOfPack = false
  /** Of the packet whose head has come. */
  #leftBytes = 0

  /** What a chunk holds of the pack, as bytes of its own. */
  take(chunk: Buffer): Uint8Array {
    const pack = Buffer.allocUnsafe(chunk.length)
    let packBytes = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.isWhole) throw new NoPack('something follows the pack')
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
      if (this.#head !== BEGINNING) throw new NoPack('the answer is not a pack alone')
      this.#nextPacket()
    } else if (this.#headBytes === LENGTH_DIGITS) {
      this.isWhole = this.#head === FLUSH
      // The end is on no band.
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
