/**
 * Parts of git's answers in protocol v0 and v1 whose place or form depends on the transport: over
 * SSH a session is one conversation with git, over HTTP each request repeats what git needs.
 */

import { createHash, type Hash } from 'node:crypto'
import { UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { Failure } from '../../conf/failures.js'
import { packetLine } from '../packs/pkt-line.js'
import { type Body, chunksOf } from './fetch-talk.js'
import { isFlush, LENGTH_DIGITS, PacketStream, textOf } from './packet-stream.js'

/** Git's own packets without content are flushes. */
const isMark = (length: number) => length === 0

/** Reads a body as packets; closes it if the reader stops early. */
async function* readBody(
  body: Body,
  use: (packets: PacketStream) => AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const chunks = chunksOf(body)
  const iterator =
    Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  const read = async () => {
    const { done, value } = await iterator.next()
    return done === true ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  try {
    yield* use(new PacketStream({ read, isMark }))
  } finally {
    await iterator.return?.()
  }
}

/**
 * Converts an advertisement of refs over HTTP (gitprotocol-http(5) "Smart Server Response") into
 * the one that git sends in a conversation: without the name of the service and its flush, and
 * without `no-done`, the only capability that git offers to stateless clients alone.
 */
export function statefulAdvertisement(body: Body): AsyncGenerator<Uint8Array> {
  return readBody(body, async function* (packets) {
    await packets.take(isFlush)
    let isVersion = true
    while (isVersion) {
      const { end } = (await packets.take(() => true)) ?? {}
      isVersion = end !== undefined && textOf(end) === 'version 1'
      if (end !== undefined) yield withoutNoDone(end)
    }
    yield* packets.rest()
  })
}

/** Removes `no-done` from the capabilities, which follow the zero byte of the first ref. */
function withoutNoDone(packet: Buffer): Buffer {
  const end = packet.indexOf(0)
  // A version, or the flush of a repository without refs.
  if (end < 0) return packet
  const ref = packet.toString('latin1', LENGTH_DIGITS, end)
  const capabilities = packet.toString('latin1', end).replace(/ no-done(?=[ \n]|$)/, '')
  return Buffer.from(packetLine(ref + capabilities), 'latin1')
}

/**
 * Yields the shallow section of an answer, which is the whole answer to a request without haves and
 * `done`, and adds it to the hash. Throws UploadPackError after an error that git sends instead.
 */
export function shallowSection(body: Body, hash: Hash): AsyncGenerator<Uint8Array> {
  return readBody(body, async function* (packets) {
    for await (const { bytes, end } of readSection(packets)) {
      hash.update(bytes)
      yield bytes
      if (end !== undefined && !isFlush(end)) throw new UploadPackError(textOf(end))
    }
  })
}

/** The beginning of an answer that the client has already. */
export interface Sent {
  /** True if the answer begins with an advertisement. */
  readonly hasRefs: boolean
  /** Digest of the shallow section; undefined if the request has none. */
  readonly section: string | undefined
}

/**
 * Yields an answer without the beginning that the client has already. Throws `unavailable` if the
 * shallow section is another one now, because the pack would not fit the commits that the client
 * takes for shallow.
 */
export function answerAfter(body: Body, { hasRefs, section }: Sent): AsyncGenerator<Uint8Array> {
  return readBody(body, async function* (packets) {
    let isRefs = hasRefs
    while (isRefs) {
      const refs = await packets.take(isFlush)
      isRefs = refs !== undefined && refs.end === undefined
    }
    if (section !== undefined) yield* skipSection(packets, section)
    yield* packets.rest()
  })
}

/** Skips a shallow section with this digest; yields the packet that git sends instead, if any. */
async function* skipSection(packets: PacketStream, section: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const { bytes, end } of readSection(packets)) {
    if (end !== undefined && !isFlush(end)) return yield end
    hash.update(bytes)
    if (end !== undefined && hash.digest('hex') !== section) {
      throw new Failure('unavailable', 'The repository changed during this fetch. Try again.')
    }
  }
}

/** Yields the packets of a shallow section, up to its flush or another packet. */
async function* readSection(packets: PacketStream) {
  const isShallow = (packet: Buffer) => /^(?:un)?shallow /.test(textOf(packet))
  for (;;) {
    const part = await packets.take((packet) => !isShallow(packet))
    if (part === undefined) return
    yield part
    if (part.end !== undefined) return
  }
}
