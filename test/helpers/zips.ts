/** Zips for tests: valid ones by yazl, and others built from fields. */

import { buffer } from 'node:stream/consumers'
import { crc32, deflateRawSync } from 'node:zlib'
import { ZipFile } from 'yazl'
import { isFailure } from '../../conf/failures.js'
import { openZip, type Zip } from '../../registry/archive/zip.js'
import { sourceOf } from './byte-sources.js'

/** Returns a zip of these files; a path that ends with a slash is a folder. */
export function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [path, content] of Object.entries(files)) {
    if (path.endsWith('/')) zip.addEmptyDirectory(path, { mtime: MTIME })
    // Each compression takes an event-loop turn and memory, so empty files are stored.
    else zip.addBuffer(Buffer.from(content), path, { mtime: MTIME, compress: content.length > 0 })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** Fixed modification time, so that the same files give the same bytes. */
const MTIME = new Date(2_020, 0, 1)

/** Checks all entries; returns their contents as text, by path. */
export async function zipContents(zip: Zip): Promise<Record<string, string>> {
  const contents: Record<string, string> = {}
  for (const entry of zip.entries) {
    await zip.check(entry)
    contents[entry.path] = (await zip.read(entry, 1_000_000)).toString()
  }
  return contents
}

/** Returns the error message with which a zip is refused, or `taken` if it is accepted. */
export async function zipRefusal(bytes: Buffer): Promise<string> {
  try {
    await zipContents(await openZip(sourceOf(bytes)))
    return 'taken'
  } catch (error) {
    if (isFailure(error, 'bad_request')) return error.message
    throw error
  }
}

/** Values in both headers of an entry. */
interface Fields {
  readonly madeBy: number
  readonly flags: number
  readonly method: number
  readonly crc32: number
  readonly compressedBytes: number
  readonly bytes: number
  readonly name: Buffer
  readonly extra: Buffer
  readonly attributes: number
  readonly start: number
}

export interface HandMadeEntry {
  readonly path: string | Buffer
  readonly content?: string | Buffer
  /** Replaced values in both headers. */
  readonly both?: Partial<Fields>
  /** Replaced values in the local header. */
  readonly local?: Partial<Fields>
  /** Replaced values in the central header. */
  readonly central?: Partial<Fields>
  /** Stored bytes; by default the content, compressed with `method`. */
  readonly data?: Buffer
  /** Bytes after the data. */
  readonly after?: Buffer
}

export interface HandMadeZip {
  readonly before?: Buffer
  readonly beforeDirectory?: Buffer
  readonly afterDirectory?: Buffer
  readonly comment?: Buffer
  readonly after?: Buffer
  readonly end?: {
    readonly disk?: number
    readonly entriesHere?: number
    readonly entries?: number
    readonly directoryBytes?: number
    readonly directoryStart?: number
    readonly commentBytes?: number
  }
}

/** Returns a zip with these entries, and with replaced or inserted parts. */
export function handMadeZip(entries: readonly HandMadeEntry[], zip: HandMadeZip = {}): Buffer {
  const parts = [zip.before ?? Buffer.alloc(0)]
  let position = zip.before?.length ?? 0
  const directory: Buffer[] = []
  for (const entry of entries) {
    const { fields, data } = fieldsOf(entry, position)
    const header = localHeader({ ...fields, ...entry.local })
    const part = Buffer.concat([header, data, entry.after ?? Buffer.alloc(0)])
    parts.push(part)
    position += part.length
    directory.push(centralHeader({ ...fields, ...entry.central }))
  }
  const beforeDirectory = zip.beforeDirectory ?? Buffer.alloc(0)
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0)
  parts.push(beforeDirectory, ...directory)
  const end = {
    entries: entries.length,
    directoryStart: position + beforeDirectory.length,
    directoryBytes,
    ...zip.end,
  }
  const comment = zip.comment ?? Buffer.alloc(0)
  parts.push(zip.afterDirectory ?? Buffer.alloc(0), endRecord(end, comment), comment)
  return Buffer.concat([...parts, zip.after ?? Buffer.alloc(0)])
}

function fieldsOf(entry: HandMadeEntry, start: number) {
  const content = Buffer.from(entry.content ?? '')
  const method = entry.both?.method ?? 0
  const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content)
  const fields: Fields = {
    madeBy: 20,
    flags: 0,
    method,
    crc32: crc32(content),
    compressedBytes: data.length,
    bytes: content.length,
    name: Buffer.from(entry.path),
    extra: Buffer.alloc(0),
    attributes: 0,
    start,
    ...entry.both,
  }
  return { fields, data }
}

function localHeader(fields: Fields): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  writeShared(header, fields, 6)
  return Buffer.concat([header, fields.name, fields.extra])
}

function centralHeader(fields: Fields): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(fields.madeBy, 4)
  header.writeUInt16LE(20, 6)
  writeShared(header, fields, 8)
  header.writeUInt32LE(fields.attributes, 38)
  header.writeUInt32LE(fields.start, 42)
  return Buffer.concat([header, fields.name, fields.extra])
}

function writeShared(header: Buffer, fields: Fields, at: number): void {
  header.writeUInt16LE(fields.flags, at)
  header.writeUInt16LE(fields.method, at + 2)
  header.writeUInt32LE(fields.crc32, at + 8)
  header.writeUInt32LE(fields.compressedBytes, at + 12)
  header.writeUInt32LE(fields.bytes, at + 16)
  header.writeUInt16LE(fields.name.length, at + 20)
  header.writeUInt16LE(fields.extra.length, at + 22)
}

function endRecord(end: NonNullable<HandMadeZip['end']>, comment: Buffer): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(end.disk ?? 0, 4)
  record.writeUInt16LE(end.entriesHere ?? end.entries ?? 0, 8)
  record.writeUInt16LE(end.entries ?? 0, 10)
  record.writeUInt32LE(end.directoryBytes ?? 0, 12)
  record.writeUInt32LE(end.directoryStart ?? 0, 16)
  record.writeUInt16LE(end.commentBytes ?? comment.length, 20)
  return record
}

/** Returns an extra field (APPNOTE.TXT 4.5). */
export function extraField(kind: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(kind, 0)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}

/** Encodes 64-bit numbers one after the other. */
export function longs(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * numbers.length)
  for (const [at, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), at * 8)
  return bytes
}

/** Returns the zip64 end of central directory record with its locator. */
export function longEnd(
  start: number,
  { entries, directoryStart, directoryBytes }: Readonly<Record<string, number>>,
): Buffer {
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50, 0)
  longs(44).copy(record, 4)
  longs(entries ?? 0, entries ?? 0, directoryBytes ?? 0, directoryStart ?? 0).copy(record, 24)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  longs(start).copy(locator, 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([record, locator])
}
