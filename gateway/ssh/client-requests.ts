/** Splitting of an SSH client's bytes into requests of protocol v2 (gitprotocol-v2(5)). */

import { Failure } from '../../conf/failures.js'

const LENGTH_DIGITS = 4
const LINE_BYTES_MAX = 65_520
const FLUSH_LENGTH = 0
/** Packets without content: the delimiter, and the end of a response. */
const SPECIAL_LENGTH_MAX = 2

export class ClientRequests {
  readonly #read: () => Promise<Buffer | undefined>
  #bytes: Buffer = Buffer.alloc(0)
  #isInside = false

  /** `read` returns the client's next bytes, or undefined at their end. */
  constructor(read: () => Promise<Buffer | undefined>) {
    this.#read = read
  }

  /** True if the last request was read to its end. */
  get isBetween(): boolean {
    return !this.#isInside
  }

  /**
   * Returns the next request, or undefined if the client sends no more. It must be read before the
   * next call. This method and the reading throw `bad_request` for malformed or incomplete packets.
   */
  async next(): Promise<AsyncIterable<Uint8Array> | undefined> {
    while (this.#bytes.length < LENGTH_DIGITS) {
      if (await this.#more()) continue
      if (this.#bytes.length === 0) return undefined
      throw brokenOff()
    }
    if (packetLength(this.#bytes, 0) === FLUSH_LENGTH) return undefined
    this.#isInside = true
    return this.#request()
  }

  async *#request(): AsyncGenerator<Uint8Array> {
    while (this.#isInside) {
      const whole = this.#takePackets()
      if (whole.length > 0) yield whole
      else if (!(await this.#more())) throw brokenOff()
    }
  }

  /** Removes and returns the complete packets that have arrived, up to the end of the request. */
  #takePackets(): Buffer {
    const bytes = this.#bytes
    let at = 0
    while (this.#isInside && at + LENGTH_DIGITS <= bytes.length) {
      const length = packetLength(bytes, at)
      const end = at + Math.max(length, LENGTH_DIGITS)
      if (end > bytes.length) break
      if (length === FLUSH_LENGTH) this.#isInside = false
      at = end
    }
    this.#bytes = bytes.subarray(at)
    return bytes.subarray(0, at)
  }

  async #more(): Promise<boolean> {
    const chunk = await this.#read()
    if (chunk === undefined) return false
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    return true
  }
}

/** Returns the length of a packet (gitprotocol-common(5) "pkt-line Format"). */
function packetLength(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + LENGTH_DIGITS)
  const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
  const isSpecial = length <= SPECIAL_LENGTH_MAX
  if (isSpecial || (length > LENGTH_DIGITS && length <= LINE_BYTES_MAX)) return length
  throw new Failure('bad_request', 'Git cannot read this request.')
}

function brokenOff(): Failure {
  return new Failure('bad_request', 'The request is incomplete.')
}
