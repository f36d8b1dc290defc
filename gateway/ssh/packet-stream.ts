/** Git's packets in a stream of bytes (gitprotocol-common(5) "pkt-line Format"). */

import { Failure } from '../../conf/failures.js'

export const LENGTH_DIGITS = 4
const PACKET_BYTES_MAX = 65_520
const FLUSH = '0000'

/** Consecutive packets, each with its length in front. They are valid until the next call. */
export interface Packets {
  readonly bytes: Buffer
  readonly count: number
  /** The last packet, if it is the one that was searched for. */
  readonly end: Buffer | undefined
}

export interface PacketStreamOptions {
  /** Returns the next bytes, valid until the next call, or undefined at their end. */
  readonly read: () => Promise<Buffer | undefined>
  /** Returns true for a length below five, which marks a packet without content, if it is valid. */
  readonly isMark: (length: number) => boolean
}

/** A reader of packets. Its methods throw `bad_request` for malformed and incomplete packets. */
export class PacketStream {
  readonly #read: PacketStreamOptions['read']
  readonly #isMark: PacketStreamOptions['isMark']
  /** Bytes that have arrived and were not taken. */
  #bytes: Buffer = Buffer.alloc(0)
  /** Memory of `#bytes` while they are the beginning of a packet. */
  #memory: Buffer = Buffer.alloc(0)

  constructor({ read, isMark }: PacketStreamOptions) {
    this.#read = read
    this.#isMark = isMark
  }

  /** Returns the next packet, which stays in the stream; undefined at the end of the stream. */
  async peek(): Promise<Buffer | undefined> {
    for (;;) {
      const end = this.#endOf(0)
      if (end !== undefined) return this.#bytes.subarray(0, end)
      if (!(await this.#more())) return undefined
    }
  }

  /**
   * Removes and returns the packets that have arrived, at least one, up to the first for which
   * `isEnd` returns true. Returns undefined at the end of the stream.
   */
  async take(isEnd: (packet: Buffer) => boolean): Promise<Packets | undefined> {
    if ((await this.peek()) === undefined) return undefined
    const bytes = this.#bytes
    let position = 0
    let count = 0
    let last: Buffer | undefined
    while (last === undefined) {
      const end = this.#endOf(position)
      if (end === undefined) break
      const packet = bytes.subarray(position, end)
      if (isEnd(packet)) last = packet
      position = end
      count += 1
    }
    this.#bytes = bytes.subarray(position)
    return { bytes: bytes.subarray(0, position), count, end: last }
  }

  /** Yields the remaining bytes as they are. */
  async *rest(): AsyncGenerator<Uint8Array> {
    if (this.#bytes.length > 0) yield this.#bytes
    for (let chunk = await this.#read(); chunk !== undefined; chunk = await this.#read()) {
      yield chunk
    }
  }

  /** Returns the end of the packet at a position; undefined if it has not arrived completely. */
  #endOf(position: number): number | undefined {
    if (position + LENGTH_DIGITS > this.#bytes.length) return undefined
    const digits = this.#bytes.toString('latin1', position, position + LENGTH_DIGITS)
    const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    const isValid = length > LENGTH_DIGITS ? length <= PACKET_BYTES_MAX : this.#isMark(length)
    if (!isValid) throw new Failure('bad_request', 'Git cannot read this request.')
    const end = position + Math.max(length, LENGTH_DIGITS)
    return end > this.#bytes.length ? undefined : end
  }

  /** Reads more bytes. Returns false at the end of the stream. */
  async #more(): Promise<boolean> {
    this.#own()
    const chunk = await this.#read()
    if (chunk !== undefined) this.#append(chunk)
    else if (this.#bytes.length > 0) throw new Failure('bad_request', 'The request is incomplete.')
    return chunk !== undefined
  }

  /** Copies the bytes, because the source may use the memory of its last chunk again. */
  #own(): void {
    if (this.#bytes.length === 0 || this.#bytes.buffer === this.#memory.buffer) return
    this.#move(2 * this.#bytes.length)
  }

  /** Appends a chunk. The memory doubles, so that small chunks are not copied repeatedly. */
  #append(chunk: Buffer): void {
    const left = this.#bytes.length
    if (left === 0) {
      this.#bytes = chunk
      return
    }
    const bytes = left + chunk.length
    if (this.#bytes.byteOffset + bytes > this.#memory.length) this.#move(2 * bytes)
    const start = this.#bytes.byteOffset
    this.#memory.set(chunk, start + left)
    this.#bytes = this.#memory.subarray(start, start + bytes)
  }

  /** Moves the bytes to the start of new memory. */
  #move(capacity: number): void {
    this.#memory = Buffer.allocUnsafeSlow(capacity)
    this.#bytes.copy(this.#memory)
    this.#bytes = this.#memory.subarray(0, this.#bytes.length)
  }
}

export function isFlush(packet: Buffer): boolean {
  return packet.length === LENGTH_DIGITS && packet.toString('latin1') === FLUSH
}

/** Returns the text of a packet, without a newline at its end. */
export function textOf(packet: Buffer): string {
  return packet.toString('latin1', LENGTH_DIGITS).replace(/\n$/, '')
}
