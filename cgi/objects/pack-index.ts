/** Lookup of objects in the index of a pack, version 2 (gitformat-pack(5)). */

import type { WindowedFile } from './windowed-file.js'

/** `\377tOc` and version 2. */
const HEADER = Buffer.from('ff744f6300000002', 'hex')

/** Number of objects whose id begins with at most each byte, as 256 numbers of 4 bytes. */
const FANOUT_AT = HEADER.length
const NAMES_AT = FANOUT_AT + 256 * 4
const CHECKSUM_BYTES = 4
const OFFSET_BYTES = 4
/** Bit of an offset of 4 bytes that is a position in the table of offsets of 8 bytes. */
const IS_LARGE = 0x8000_0000

/**
 * Returns the offset of an object in the pack; undefined if the pack does not have it. Throws an
 * Error if the index is not of version 2 or ends too early.
 */
export async function findInIndex(index: WindowedFile, id: Buffer): Promise<number | undefined> {
  const start = await index.bytes(0, NAMES_AT)
  if (!start.subarray(0, FANOUT_AT).equals(HEADER)) throw new Error('unknown version of an index')
  const [firstByte = 0] = id
  const countUpTo = (byte: number) => start.readUInt32BE(FANOUT_AT + 4 * byte)
  const count = countUpTo(255)
  let low = firstByte === 0 ? 0 : countUpTo(firstByte - 1)
  let high = countUpTo(firstByte)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const name = await index.bytes(NAMES_AT + middle * id.length, id.length)
    const order = id.compare(name)
    if (order === 0) return offsetOf(index, { count, place: middle, idBytes: id.length })
    if (order < 0) high = middle
    else low = middle + 1
  }
  return undefined
}

async function offsetOf(
  index: WindowedFile,
  input: { readonly count: number; readonly place: number; readonly idBytes: number },
): Promise<number> {
  const { count, place, idBytes } = input
  const offsetsAt = NAMES_AT + count * (idBytes + CHECKSUM_BYTES)
  const offset = (await index.bytes(offsetsAt + place * OFFSET_BYTES, OFFSET_BYTES)).readUInt32BE()
  if (offset < IS_LARGE) return offset
  const largeAt = offsetsAt + count * OFFSET_BYTES + (offset - IS_LARGE) * 8
  return Number((await index.bytes(largeAt, 8)).readBigUInt64BE())
}
