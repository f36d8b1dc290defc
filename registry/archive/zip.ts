/** Reader of zip archives, which refuses archives that other readers could read differently. */

import { Readable } from 'node:stream'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl'
import { Failure } from '../../conf/failures.js'
import type { ByteSource } from './byte-source.js'
import { createYielder } from './yielder.js'
import { readZipEnd, ZIP_TAIL_BYTES_MAX, type ZipEnd } from './zip-end.js'
import { findExtra, ZIP64_EXTRA } from './zip-extra.js'
import { type DirectoryEntry, locateEntries, type Read, readAhead } from './zip-layout.js'
import { checkTree, quote, readZipPath } from './zip-paths.js'

/** A checked entry of the central directory. */
export interface ZipEntry {
  /** Relative path without `.` and `..`; that of a folder ends with a slash. */
  readonly path: string
  readonly bytes: number
  readonly compressedBytes: number
  /** `other`: a symbolic link, a device, or an entry with contradictory types. */
  readonly kind: 'file' | 'folder' | 'other'
}

export interface Zip {
  /** Entries in the order of the central directory. Their paths are unique. */
  readonly entries: readonly ZipEntry[]
  /**
   * Returns the content of an entry. Throws `bad_request` if it is larger than `bytesMax` or does
   * not match the size and checksum in the central directory.
   */
  read(entry: ZipEntry, bytesMax: number): Promise<Buffer>
  /** Checks the content of an entry as `read` does, in constant memory. */
  check(entry: ZipEntry): Promise<void>
}

/**
 * Reads the central directory of a zip archive and the local headers, but not the contents. Throws
 * `bad_request` if the file is not a zip archive, or if readers could disagree about its content.
 */
export async function openZip(source: ByteSource): Promise<Zip> {
  const end = await readZipEnd(source)
  const entries = await readDirectory(source, end)
  checkTree(entries.map(({ path }) => path))
  const starts = await locateEntries(source, entries, end.directoryStart)
  const read = readAhead(source, end.directoryStart)
  const yieldIfDue = createYielder()
  const unpack = async (entry: ZipEntry, take: (chunk: Uint8Array) => void) => {
    await yieldIfDue()
    const own = entry as LocatedEntry
    const start = starts.get(own)
    if (start === undefined) throw new Error('the entry belongs to another zip archive')
    return unpackEntry({ source, read }, own, { start, take })
  }
  return {
    entries,
    async read(entry, bytesMax) {
      if (entry.bytes > bytesMax) {
        const name = quote(entry.path)
        throw new Failure('bad_request', `${name} in the archive has more than ${bytesMax} bytes.`)
      }
      const chunks: Uint8Array[] = []
      await unpack(entry, (chunk) => chunks.push(chunk))
      return Buffer.concat(chunks)
    },
    check: (entry) => unpack(entry, () => {}),
  }
}

interface LocatedEntry extends ZipEntry, DirectoryEntry {}

/** Size of a central directory header without name, extra fields and comment. */
const FIXED_BYTES = 46

async function readDirectory(source: ByteSource, end: ZipEnd): Promise<readonly LocatedEntry[]> {
  const keptStart = Math.min(end.directoryStart, Math.max(0, source.bytes - ZIP_TAIL_BYTES_MAX))
  const reader = new KeptReader(await source.read(keptStart, source.bytes - keptStart), keptStart)
  const entries: LocatedEntry[] = []
  let bytes = 0
  try {
    const options = { autoClose: false, decodeStrings: false }
    const zip = await fromRandomAccessReaderPromise(reader, source.bytes, options)
    const yieldIfDue = createYielder()
    for await (const entry of zip.eachEntry()) {
      await yieldIfDue()
      bytes += FIXED_BYTES + entry.fileNameLength + entry.extraFieldLength
      bytes += entry.fileCommentLength
      entries.push(readEntry(entry))
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    const message = 'The central directory of the zip archive is malformed.'
    throw new Failure('bad_request', message, { cause })
  }
  if (bytes !== end.directoryBytes) {
    const problem = 'does not end with its last entry'
    throw new Failure('bad_request', `The central directory of the zip archive ${problem}.`)
  }
  return entries
}

/** Reader for yauzl over the end of a file that is already in memory, so that it never waits. */
class KeptReader extends RandomAccessReader {
  readonly #kept: Buffer
  readonly #start: number

  constructor(kept: Buffer, start: number) {
    super()
    this.#kept = kept
    this.#start = start
  }

  override read(
    ...[buffer, offset, bytes, position, callback]: Parameters<RandomAccessReader['read']>
  ): void {
    const start = position - this.#start
    const copied = start < 0 ? 0 : this.#kept.copy(buffer, offset, start, start + bytes)
    // Like fs.read, yauzl expects the number of bytes read, which its types omit.
    const done = callback as (error: null, bytesRead: number) => void
    done(null, copied)
  }
}

/** Flags: encrypted, patch data, strong encryption, encrypted directory (APPNOTE.TXT 4.4.4). */
const FLAGS_REFUSED = 0x0001 | 0x0020 | 0x0040 | 0x2000

const STORED = 0
const DEFLATED = 8

function readEntry(entry: Entry): LocatedEntry {
  const path = readZipPath(entry.fileNameRaw, entry.extraFieldRaw)
  const refuse = (fault: string) =>
    new Failure('bad_request', `The zip archive has an entry ${quote(path)} that ${fault}.`)
  if ((entry.generalPurposeBitFlag & FLAGS_REFUSED) !== 0) throw refuse('is encrypted or patched')
  const method = entry.compressionMethod
  if (method !== STORED && method !== DEFLATED) throw refuse('is neither stored nor deflated')
  findExtra(entry.extraFieldRaw, ZIP64_EXTRA)
  const kind = kindOf(entry, path)
  const { uncompressedSize: bytes, compressedSize: compressedBytes } = entry
  if (kind === 'folder' && bytes > 0) throw refuse('is a folder with content')
  const { crc32, relativeOffsetOfLocalHeader: headerStart } = entry
  return { path, kind, method, crc32, bytes, compressedBytes, headerStart }
}

/** Systems that store the Unix mode in the upper half of the attributes (APPNOTE.TXT 4.4.2). */
const MADE_ON_UNIX = [3, 19]
const MODE_TYPE = 0o170000
const MODE_FILE = 0o100000
const MODE_FOLDER = 0o040000
const DOS_FOLDER = 0x10

function kindOf(entry: Entry, path: string): ZipEntry['kind'] {
  const attributes = entry.externalFileAttributes
  const isUnix = MADE_ON_UNIX.includes(entry.versionMadeBy >>> 8)
  const type = isUnix ? (attributes >>> 16) & MODE_TYPE : 0
  if (path.endsWith('/')) return type === 0 || type === MODE_FOLDER ? 'folder' : 'other'
  if (!isUnix && (attributes & DOS_FOLDER) !== 0) return 'other'
  return type === 0 || type === MODE_FILE ? 'file' : 'other'
}

interface Origin {
  readonly source: ByteSource
  readonly read: Read
}

interface Unpacking {
  readonly start: number
  readonly take: (chunk: Uint8Array) => void
}

/**
 * Decompresses an entry and checks its size and checksum. Stops at the first byte beyond the
 * declared size, so that a decompression bomb costs no more than it declares.
 */
async function unpackEntry(
  origin: Origin,
  entry: DirectoryEntry,
  { start, take }: Unpacking,
): Promise<void> {
  let bytes = 0
  let checksum = 0
  for await (const chunk of unpackedChunks(origin, entry, start)) {
    bytes += chunk.length
    if (bytes > entry.bytes) throw mismatch(entry)
    checksum = crc32(chunk, checksum)
    take(chunk)
  }
  if (bytes !== entry.bytes || checksum !== entry.crc32) throw mismatch(entry)
}

function mismatch(entry: DirectoryEntry, cause?: unknown): Failure {
  const name = quote(entry.path)
  const problem = 'does not match its size or checksum in the central directory'
  return new Failure('bad_request', `${name} in the zip archive ${problem}.`, { cause })
}

/**
 * Maximum size of entries that are decompressed in one call. This takes a twentieth of the time of
 * a stream, and source archives have thousands of small files.
 */
const SMALL_BYTES_MAX = 65_536

async function* unpackedChunks(
  { source, read }: Origin,
  entry: DirectoryEntry,
  start: number,
): AsyncGenerator<Uint8Array> {
  const isStored = entry.method === STORED
  if (Math.max(entry.bytes, entry.compressedBytes) <= SMALL_BYTES_MAX) {
    const packed = await read(start, entry.compressedBytes)
    yield isStored ? packed : inflateWhole(packed, entry)
  } else {
    const packed = source.stream(start, start + entry.compressedBytes)
    yield* isStored ? packed : inflate(packed, entry)
  }
}

function inflateWhole(packed: Buffer, entry: DirectoryEntry): Buffer {
  try {
    const options = { maxOutputLength: Math.max(1, entry.bytes), info: true }
    // Node's types omit the properties that `info` adds.
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as Inflated
    if (engine.bytesWritten === entry.compressedBytes) return buffer
  } catch (cause) {
    throw mismatch(entry, cause)
  }
  throw mismatch(entry)
}

interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

async function* inflate(
  packed: AsyncIterable<Uint8Array>,
  entry: DirectoryEntry,
): AsyncGenerator<Uint8Array> {
  const inflater = createInflateRaw({ chunkSize: SMALL_BYTES_MAX })
  const input = Readable.from(packed)
  // Not `pipeline`, which would wait until data after the end of the DEFLATE stream is consumed.
  input.on('error', (error) => inflater.destroy(error)).pipe(inflater)
  try {
    yield* inflater
  } catch (error) {
    throw isFromZlib(error) ? mismatch(entry, error) : error
  } finally {
    input.destroy()
    inflater.destroy()
  }
  if (inflater.bytesWritten !== entry.compressedBytes) throw mismatch(entry)
}

function isFromZlib(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
