/** The end of central directory record of a zip archive (APPNOTE.TXT 4.3.14 to 4.3.16). */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from './byte-source.js'

export interface ZipEnd {
  readonly entries: number
  readonly directoryStart: number
  readonly directoryBytes: number
}

/**
 * Reads the end record of a zip archive, and its zip64 form. Throws `bad_request` unless the record
 * follows the central directory directly and ends with the file, so that no reader can find another
 * one, and if the directory is too large to be read into memory.
 */
export async function readZipEnd(source: ByteSource): Promise<ZipEnd> {
  const tail = await readZipTail(source)
  const tailStart = source.bytes - tail.length
  const at = tail.length < END_BYTES ? -1 : tail.lastIndexOf(END, tail.length - END_BYTES)
  if (at === -1) throw new Failure('bad_request', 'The file is not a zip archive or is truncated.')
  if (tail.readUInt16LE(at + 20) !== tail.length - at - END_BYTES) {
    throw new Failure('bad_request', 'The zip archive has data after its end record.')
  }
  if (tail.indexOf(END, at + 4) !== -1) {
    throw new Failure('bad_request', 'The zip archive has several end records.')
  }
  const short = {
    entries: tail.readUInt16LE(at + 10),
    directoryStart: tail.readUInt32LE(at + 16),
    directoryBytes: tail.readUInt32LE(at + 12),
  }
  const entriesHere = tail.readUInt16LE(at + 8)
  if (tail.readUInt32LE(at + 4) !== 0 || entriesHere !== short.entries) throw splitArchive()
  const isLong = at >= LOCATOR_BYTES && tail.readUInt32LE(at - LOCATOR_BYTES) === LOCATOR
  const end = isLong ? readLongEnd(tail, { tailStart, at, short }) : short
  const recordsBytes = isLong ? LOCATOR_BYTES + LONG_END_BYTES : 0
  return checked(end, tailStart + at - recordsBytes)
}

function splitArchive(): Failure {
  const advice = 'upload it as one file'
  return new Failure('bad_request', `The zip archive is split into several files: ${advice}.`)
}

const END = Buffer.from('PK\x05\x06')
const END_BYTES = 22
const COMMENT_BYTES_MAX = 0xffff
const LOCATOR = 0x07064b50
const LOCATOR_BYTES = 20
const LONG_END = 0x06064b50
const LONG_END_BYTES = 56

/** Maximum size of all records after the central directory. */
export const ZIP_TAIL_BYTES_MAX = LONG_END_BYTES + LOCATOR_BYTES + END_BYTES + COMMENT_BYTES_MAX

function readZipTail(source: ByteSource): Promise<Buffer> {
  const bytes = Math.min(ZIP_TAIL_BYTES_MAX, source.bytes)
  return source.read(source.bytes - bytes, bytes)
}

interface ShortEnd {
  readonly tailStart: number
  readonly at: number
  readonly short: ZipEnd
}

/**
 * Reads the zip64 record, which replaces fields of the end record that are too small. Throws
 * `bad_request` if a reader without zip64 support would see other values.
 */
function readLongEnd(tail: Buffer, { tailStart, at, short }: ShortEnd): ZipEnd {
  const locator = at - LOCATOR_BYTES
  const record = locator - LONG_END_BYTES
  const fits =
    record >= 0 &&
    tail.readBigUInt64LE(locator + 8) === BigInt(tailStart + record) &&
    tail.readUInt32LE(record) === LONG_END &&
    tail.readBigUInt64LE(record + 4) === BigInt(LONG_END_BYTES - 12)
  if (!fits) {
    throw new Failure('bad_request', 'The zip64 end record of the zip archive is malformed.')
  }
  const entries = Number(tail.readBigUInt64LE(record + 32))
  const isWhole =
    tail.readUInt32LE(locator + 4) === 0 &&
    tail.readUInt32LE(locator + 16) <= 1 &&
    tail.readBigUInt64LE(record + 16) === 0n &&
    tail.readBigUInt64LE(record + 24) === BigInt(entries)
  if (!isWhole) throw splitArchive()
  const directoryBytes = Number(tail.readBigUInt64LE(record + 40))
  const directoryStart = Number(tail.readBigUInt64LE(record + 48))
  const agrees =
    (short.entries === 0xffff || short.entries === entries) &&
    (short.directoryBytes === 0xffff_ffff || short.directoryBytes === directoryBytes) &&
    (short.directoryStart === 0xffff_ffff || short.directoryStart === directoryStart)
  if (!agrees) {
    const problem = 'contradict each other'
    throw new Failure('bad_request', `The two end records of the zip archive ${problem}.`)
  }
  return { entries, directoryStart, directoryBytes }
}

/** Maximum number of entries; each takes less than 1 KiB of memory while the archive is open. */
const ENTRIES_MAX = 100_000

/** Maximum size of the central directory: about 160 bytes for each entry. */
const DIRECTORY_BYTES_MAX = 16_777_216

function checked(end: ZipEnd, directoryEnd: number): ZipEnd {
  if (end.directoryStart + end.directoryBytes !== directoryEnd) {
    const problem = 'is not where the end record says'
    throw new Failure('bad_request', `The central directory of the zip archive ${problem}.`)
  }
  if (end.entries > ENTRIES_MAX) {
    throw new Failure('bad_request', `The zip archive has more than ${ENTRIES_MAX} entries.`)
  }
  if (end.directoryBytes > DIRECTORY_BYTES_MAX) {
    throw new Failure('bad_request', 'The central directory of the zip archive exceeds 16 MiB.')
  }
  return end
}
