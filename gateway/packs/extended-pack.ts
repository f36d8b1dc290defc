/** An answer with the objects of a stored answer and of a second pack, in one pack. */

import { createHash } from 'node:crypto'
import { writev } from 'node:fs'
import { promisify } from 'node:util'
import type { ObjectFormat } from './normal-fetch.js'
import { NoPack, PACK_BEGINNINGS, readPackParts } from './pack-stream.js'
import { sidebandPacket, sidebandPieces } from './pkt-line.js'

const writeInPool = promisify(writev)

export interface ExtendedPackParts {
  /** Body of a fetch's answer that contains only a pack. */
  readonly base: Uint8Array | AsyncIterable<Uint8Array>
  /** Pack of other objects. Its deltas may have objects of the base as their bases. */
  readonly added: Buffer
  readonly version: 0 | 2
  readonly objectFormat: ObjectFormat
}

/**
 * Writes the answer into an open file, in parts, between which other requests run. Throws NoPack
 * before it writes anything if the base does not begin with a pack.
 */
export async function writeExtendedPack(
  file: number,
  parts: ExtendedPackParts,
  signal: AbortSignal,
): Promise<void> {
  let beginning: readonly Buffer[] = [Buffer.from(PACK_BEGINNINGS[parts.version])]
  for await (const pieces of extendedPack(parts)) {
    signal.throwIfAborted()
    await writeWhole(file, [...beginning, ...pieces.flatMap(sidebandPacket)])
    beginning = []
  }
  await writeWhole(file, [Buffer.from('0000')])
}

/** Length of the signature, the version and the number of objects (gitformat-pack(5)). */
const HEADER_BYTES = 12
const COUNT_OFFSET = 8
const SIGNATURE = 'PACK'

const CHECKSUM_BYTES = { sha1: 20, sha256: 32 } as const

/**
 * Yields the pack in pieces, which are valid until the next ones are requested. The objects of the
 * base come first and unchanged, because a delta may name its own base by the distance between the
 * two.
 */
async function* extendedPack(parts: ExtendedPackParts): AsyncGenerator<readonly Buffer[]> {
  const { base, added, version, objectFormat } = parts
  const checksumBytes = CHECKSUM_BYTES[objectFormat]
  const hash = createHash(objectFormat)
  let hasHeader = false
  for await (const known of withoutEnd(readPackParts(base, version), checksumBytes)) {
    // Git may send the header in a packet of its own, without its last byte.
    const pieces = hasHeader
      ? known.filter(({ length }) => length > 0)
      : [...sidebandPieces(withCountOf(Buffer.concat(known), added))]
    hasHeader = true
    for (const piece of pieces) hash.update(piece)
    yield pieces
  }
  for (const piece of sidebandPieces(added.subarray(HEADER_BYTES, -checksumBytes))) {
    hash.update(piece)
    yield [piece]
  }
  yield [hash.digest()]
}

/** Yields parts without the last bytes of them all. */
async function* withoutEnd(
  chunks: AsyncIterable<readonly Buffer[]>,
  endBytes: number,
): AsyncGenerator<readonly Buffer[]> {
  let held = Buffer.alloc(0)
  for await (const parts of chunks) {
    const pieces: Buffer[] = []
    for (const part of parts) {
      const isShort = part.length < endBytes
      const known = isShort ? Buffer.concat([held, part]) : part
      if (!isShort) pieces.push(held)
      const end = Math.max(0, known.length - endBytes)
      pieces.push(known.subarray(0, end))
      held = Buffer.from(known.subarray(end))
    }
    yield pieces
  }
}

/** Changes the beginning of a pack to have the number of the objects of both packs. */
function withCountOf(beginning: Buffer, added: Buffer): Buffer {
  const isPack = beginning.toString('latin1', 0, SIGNATURE.length) === SIGNATURE
  if (!isPack || beginning.length < HEADER_BYTES) throw new NoPack('the answer has no pack')
  const count = beginning.readUInt32BE(COUNT_OFFSET) + added.readUInt32BE(COUNT_OFFSET)
  beginning.writeUInt32BE(count, COUNT_OFFSET)
  return beginning
}

/** Writes the buffers at the present position of the file. */
async function writeWhole(file: number, buffers: readonly Buffer[]): Promise<void> {
  const bytes = buffers.reduce((sum, { length }) => sum + length, 0)
  const { bytesWritten } = await writeInPool(file, buffers)
  // A short write is caused by a limit or a full disk, which the next write reports.
  if (bytesWritten < bytes) {
    const rest = Buffer.concat(buffers).subarray(bytesWritten)
    await writeWhole(file, [rest])
  }
}
