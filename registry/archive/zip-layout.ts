/** Checks that the entries of a zip archive are contiguous and match its central directory. */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from './byte-source.js'
import { createYielder } from './yielder.js'
import { findExtra, ZIP64_EXTRA } from './zip-extra.js'
import { quote, readZipPath } from './zip-paths.js'

/** Header of an entry in the central directory (APPNOTE.TXT 4.3.12). */
export interface DirectoryEntry {
  readonly path: string
  readonly method: number
  readonly crc32: number
  readonly compressedBytes: number
  readonly bytes: number
  readonly headerStart: number
}

/**
 * Returns the offset of each entry's data. Throws `bad_request` unless the file consists of these
 * entries and nothing else from its first byte to the central directory: no two overlap, none is
 * hidden, and their local headers agree with the directory. So a reader that streams the file sees
 * the same entries as one that reads the directory.
 */
export async function locateEntries<T extends DirectoryEntry>(
  source: ByteSource,
  entries: readonly T[],
  directoryStart: number,
): Promise<ReadonlyMap<T, number>> {
  const inOrder = entries.toSorted((a, b) => a.headerStart - b.headerStart)
  const read = readAhead(source, directoryStart)
  const starts = new Map<T, number>()
  const yieldIfDue = createYielder()
  let position = 0
  for (const [at, entry] of inOrder.entries()) {
    await yieldIfDue()
    if (entry.headerStart !== position) throw misplaced()
    const end = inOrder[at + 1]?.headerStart ?? directoryStart
    starts.set(entry, await locateEntry(read, entry, end))
    position = end
  }
  if (position !== directoryStart) throw misplaced()
  return starts
}

export type Read = (start: number, bytes: number) => Promise<Buffer>

const WINDOW_BYTES = 65_536

/**
 * Returns a function that reads bytes before `end`, with read-ahead, because small entries follow
 * each other. It throws `bad_request` if the file does not have these bytes.
 */
export function readAhead(source: ByteSource, end: number): Read {
  let windowStart = 0
  let window: Buffer = Buffer.alloc(0)
  return async (start, bytes) => {
    if (start + bytes > end) throw misplaced()
    if (start < windowStart || start + bytes > windowStart + window.length) {
      const wanted = Math.min(Math.max(bytes, WINDOW_BYTES), end - start)
      window = await source.read(start, wanted)
      windowStart = start
      if (window.length < wanted) throw misplaced()
    }
    return window.subarray(start - windowStart, start - windowStart + bytes)
  }
}

function misplaced(): Failure {
  return new Failure(
    'bad_request',
    'The entries of the zip archive overlap, or there is data between them.',
  )
}

const HEADER = 0x04034b50
const HEADER_BYTES = 30
const ENCRYPTED = 0x0001
/** Flag of entries whose sizes follow their data, in a data descriptor (APPNOTE.TXT 4.3.9). */
const DESCRIBED_LATER = 0x0008

/** Returns the offset of an entry's data. `end` is the offset of the next entry or directory. */
async function locateEntry(read: Read, entry: DirectoryEntry, end: number): Promise<number> {
  const header = await read(entry.headerStart, HEADER_BYTES)
  if (header.readUInt32LE(0) !== HEADER) throw misplaced()
  const flags = header.readUInt16LE(6)
  const nameBytes = header.readUInt16LE(26)
  const rest = await read(entry.headerStart + HEADER_BYTES, nameBytes + header.readUInt16LE(28))
  const extra = rest.subarray(nameBytes)
  const isDescribedLater = (flags & DESCRIBED_LATER) !== 0
  const agrees =
    readZipPath(rest.subarray(0, nameBytes), extra) === entry.path &&
    header.readUInt16LE(8) === entry.method &&
    (flags & ENCRYPTED) === 0 &&
    isSame(sizesOf(header, extra), entry, { mayBeZero: isDescribedLater })
  const dataStart = entry.headerStart + HEADER_BYTES + rest.length
  const dataEnd = dataStart + entry.compressedBytes
  if (!agrees) throw contradicted(entry)
  if (!isDescribedLater) {
    if (dataEnd !== end) throw misplaced()
  } else if (!isDescription(await read(dataEnd, descriptionBytes(end - dataEnd)), entry)) {
    throw contradicted(entry)
  }
  return dataStart
}

function contradicted(entry: DirectoryEntry): Failure {
  const name = quote(entry.path)
  const place = 'the central directory of the zip archive'
  return new Failure('bad_request', `The local header of ${name} contradicts ${place}.`)
}

interface Sizes {
  readonly crc32: number
  readonly compressedBytes: number
  readonly bytes: number
}

function sizesOf(header: Buffer, extra: Buffer): Sizes {
  const crc32 = header.readUInt32LE(14)
  const long = findExtra(extra, ZIP64_EXTRA)
  let at = 0
  const readLong = (short: number) => {
    if (short !== 0xffff_ffff || long === undefined || at + 8 > long.length) return short
    at += 8
    return Number(long.readBigUInt64LE(at - 8))
  }
  // The zip64 field stores the sizes in this order; the header stores them in the opposite order.
  const bytes = readLong(header.readUInt32LE(22))
  const compressedBytes = readLong(header.readUInt32LE(18))
  return { crc32, compressedBytes, bytes }
}

function isSame(
  found: Sizes,
  entry: Sizes,
  { mayBeZero }: { readonly mayBeZero: boolean },
): boolean {
  const fields = ['crc32', 'compressedBytes', 'bytes'] as const
  return fields.every((field) => found[field] === entry[field] || (mayBeZero && found[field] === 0))
}

const DESCRIPTION = 0x08074b50

/** Possible sizes of a data descriptor: with or without signature, in 32 or 64 bits. */
const DESCRIPTION_BYTES = [12, 16, 20, 24]

function descriptionBytes(bytes: number): number {
  if (!DESCRIPTION_BYTES.includes(bytes)) throw misplaced()
  return bytes
}

/** Returns true if the bytes are the data descriptor of the entry (APPNOTE.TXT 4.3.9). */
function isDescription(description: Buffer, entry: Sizes): boolean {
  const fields = description.length % 8 === 0 ? description.subarray(4) : description
  if (fields !== description && description.readUInt32LE(0) !== DESCRIPTION) return false
  const [compressedBytes, bytes] =
    fields.length === 12
      ? [fields.readUInt32LE(4), fields.readUInt32LE(8)]
      : [Number(fields.readBigUInt64LE(4)), Number(fields.readBigUInt64LE(12))]
  const found = { crc32: fields.readUInt32LE(0), compressedBytes, bytes }
  return isSame(found, entry, { mayBeZero: false })
}
