/** Splitting of an SSH client's bytes into requests of protocol v2 (gitprotocol-v2(5)). */

import { Failure } from '../../conf/failures.js'
import { isFlush, PacketStream } from './packet-stream.js'

/** Packets without content: a flush, a delimiter, and the end of a response. */
const MARK_LENGTH_MAX = 2

export class ClientRequests {
  readonly #packets: PacketStream
  #isInside = false

  /** `read` returns the client's next bytes, or undefined at their end. */
  constructor(read: () => Promise<Buffer | undefined>) {
    this.#packets = new PacketStream({ read, isMark: (length) => length <= MARK_LENGTH_MAX })
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
    const packet = await this.#packets.peek()
    if (packet === undefined || isFlush(packet)) return undefined
    this.#isInside = true
    return this.#request()
  }

  async *#request(): AsyncGenerator<Uint8Array> {
    while (this.#isInside) {
      const packets = await this.#packets.take(isFlush)
      if (packets === undefined) throw new Failure('bad_request', 'The request is incomplete.')
      if (packets.end !== undefined) this.#isInside = false
      yield packets.bytes
    }
  }
}
