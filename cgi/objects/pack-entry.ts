/** Headers of the entries of a pack (gitformat-pack(5)). */

import type { ObjectType } from './cat-file.js'

/** Header of an entry: of an object, or of a delta to another object. */
export interface PackEntry {
  /** Type of the object; undefined for a delta. */
  readonly type: ObjectType | undefined
  /** Size of the inflated object or delta. */
  readonly sizeBytes: number
  /** Offset of the deflated bytes in the pack. */
  readonly dataAt: number
  /** Offset or id of the base of a delta. */
  readonly base: number | Buffer | undefined
}

/** Maximum size of a header: type and size, and the offset or the id of a base. */
export const ENTRY_HEADER_BYTES_MAX = 48

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const KINDS: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const OFFSET_DELTA = 6
const ID_DELTA = 7

/** Parses the header that the bytes at `offset` begin with. Throws an Error if it is damaged. */
export function parseEntry(
  bytes: Buffer,
  { offset, idBytes }: { readonly offset: number; readonly idBytes: number },
): PackEntry {
  const reader = { bytes, at: 0 }
  let byte = nextByte(reader)
  const kind = (byte >> 4) & 0x07
  let sizeBytes = byte & 0x0f
  for (let factor = 16; byte >= 0x80; factor *= 128) {
    byte = nextByte(reader)
    sizeBytes += (byte & 0x7f) * factor
  }
  const type = TYPES[kind]
  let base: number | Buffer | undefined
  if (kind === OFFSET_DELTA) {
    base = offset - nextDistance(reader)
    if (base < 0 || base >= offset) throw new Error('the base of a delta is not before it')
  } else if (kind === ID_DELTA) {
    base = bytes.subarray(reader.at, reader.at + idBytes)
    reader.at += idBytes
  } else if (type === undefined) {
    throw new Error('an entry has an unknown type')
  }
  return { type, sizeBytes, dataAt: offset + reader.at, base }
}

/** Writes the header of an entry that has a whole object of this size. */
export function writeEntryHead(type: ObjectType, sizeBytes: number): Buffer {
  const kind = KINDS[type]
  const head = [(kind << 4) | (sizeBytes % 16)]
  for (let left = Math.floor(sizeBytes / 16); left > 0; left = Math.floor(left / 128)) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80
    head.push(left % 128)
  }
  return Buffer.from(head)
}

interface Reader {
  readonly bytes: Buffer
  at: number
}

/** Reads how far before a delta its base is. */
function nextDistance(reader: Reader): number {
  let byte = nextByte(reader)
  let distance = byte & 0x7f
  while (byte >= 0x80) {
    byte = nextByte(reader)
    distance = (distance + 1) * 128 + (byte & 0x7f)
  }
  return distance
}

function nextByte(reader: Reader): number {
  const byte = reader.bytes[reader.at]
  if (byte === undefined) throw new Error('an entry ends too early')
  reader.at += 1
  return byte
}
