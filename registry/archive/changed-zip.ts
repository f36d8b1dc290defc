/** Changes the entries of a zip archive while it is streamed, without decompressing them. */

import { crc32 } from 'node:zlib'

export interface ZipChange {
  /** Returns the new path of an entry, or undefined to remove it. */
  readonly pathOf: (path: string) => string | undefined
  /** Files to append, whose contents are not compressed. */
  readonly additions: readonly { readonly path: string; readonly content: Uint8Array }[]
  /** Called with the size of each entry that is kept; may throw. */
  readonly check: (bytes: number) => void
}

/**
 * Yields the archive with changed entries. The archive must be as git writes it if no file exceeds
 * `core.bigFileThreshold`: local headers with sizes, no data descriptors, and no zip64. Throws an
 * Error if it is not (APPNOTE.TXT 4.3).
 */
export async function* changeZip(
  chunks: AsyncIterable<Uint8Array>,
  { pathOf, additions, check }: ZipChange,
): AsyncGenerator<Uint8Array> {
  const source = createSource(chunks)
  const directory: Buffer[] = []
  /** Start of each entry in the new archive; undefined for an entry that was removed. */
  const starts: (number | undefined)[] = []
  let position = 0
  let signature = await source.read(SIGNATURE_BYTES)
  for (; signature.equals(LOCAL); signature = await source.read(SIGNATURE_BYTES)) {
    const header = await source.read(LOCAL_BYTES)
    const { path, extra, compressedBytes, bytes } = await readLocal(source, header)
    const wanted = pathOf(path)
    starts.push(wanted === undefined ? undefined : position)
    if (wanted === undefined) {
      await source.skip(compressedBytes)
      continue
    }
    check(bytes)
    const name = Buffer.from(wanted)
    header.writeUInt16LE(name.length, 22)
    const head = Buffer.concat([LOCAL, header, name, extra])
    position += head.length + compressedBytes
    yield head
    yield* source.pass(compressedBytes)
  }
  for (let at = 0; signature.equals(CENTRAL); signature = await source.read(SIGNATURE_BYTES)) {
    const record = await readCentral(source)
    const start = starts[at]
    at += 1
    if (start !== undefined) directory.push(recordOf(record, start, pathOf(record.path) ?? ''))
  }
  if (!signature.equals(END)) throw new Error('the zip archive of git has an unknown record')
  await source.skipAll()
  for (const { path, content } of additions) {
    const { local, central } = headersOf(path, content, position)
    directory.push(central)
    position += local.length + content.byteLength
    yield local
    yield content
  }
  const list = Buffer.concat(directory)
  yield list
  yield endOf(directory.length, list.length, position)
}

/** Maximum number of entries without zip64. */
export const ZIP_ENTRIES_MAX = 65_534

const LOCAL = Buffer.from('PK\x03\x04', 'latin1')
const CENTRAL = Buffer.from('PK\x01\x02', 'latin1')
const END = Buffer.from('PK\x05\x06', 'latin1')
const SIGNATURE_BYTES = 4
/** Sizes of the fixed parts of headers, without the signature. */
const LOCAL_BYTES = 26
const CENTRAL_BYTES = 42
/** Flag of an entry whose sizes are in a data descriptor after its content. */
const HAS_DESCRIPTOR = 8
/** Flag of a path in UTF-8. */
const IS_UTF8 = 2_048

async function readLocal(source: Source, header: Buffer) {
  if ((header.readUInt16LE(2) & HAS_DESCRIPTOR) !== 0) {
    throw new Error('the zip archive of git has an entry without sizes in its header')
  }
  const name = await source.read(header.readUInt16LE(22))
  return {
    path: name.toString(),
    extra: await source.read(header.readUInt16LE(24)),
    compressedBytes: header.readUInt32LE(14),
    bytes: header.readUInt32LE(18),
  }
}

async function readCentral(source: Source) {
  const header = await source.read(CENTRAL_BYTES)
  const name = await source.read(header.readUInt16LE(24))
  const extra = await source.read(header.readUInt16LE(26))
  await source.skip(header.readUInt16LE(28))
  return { header, path: name.toString(), extra }
}

function recordOf(
  { header, extra }: { readonly header: Buffer; readonly extra: Buffer },
  start: number,
  path: string,
): Buffer {
  const name = Buffer.from(path)
  header.writeUInt16LE(name.length, 24)
  header.writeUInt16LE(0, 28)
  header.writeUInt32LE(start, 38)
  return Buffer.concat([CENTRAL, header, name, extra])
}

/** Returns the headers of a stored entry, with the earliest date of zip archives. */
function headersOf(path: string, content: Uint8Array, start: number) {
  const name = Buffer.from(path)
  const fields = Buffer.alloc(LOCAL_BYTES)
  fields.writeUInt16LE(10, 0)
  fields.writeUInt16LE(IS_UTF8, 2)
  fields.writeUInt16LE(33, 8)
  fields.writeUInt32LE(crc32(content), 10)
  fields.writeUInt32LE(content.byteLength, 14)
  fields.writeUInt32LE(content.byteLength, 18)
  fields.writeUInt16LE(name.length, 22)
  const header = Buffer.alloc(CENTRAL_BYTES)
  header.writeUInt16LE(10, 0)
  fields.copy(header, 2)
  return {
    local: Buffer.concat([LOCAL, fields, name]),
    central: recordOf({ header, extra: Buffer.alloc(0) }, start, path),
  }
}

function endOf(entries: number, directoryBytes: number, directoryStart: number): Buffer {
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries, 4)
  end.writeUInt16LE(entries, 6)
  end.writeUInt32LE(directoryBytes, 8)
  end.writeUInt32LE(directoryStart, 12)
  return Buffer.concat([END, end])
}

interface Source {
  /** Returns a copy of the next bytes. Throws if there are fewer. */
  read(count: number): Promise<Buffer>
  /** Yields the next bytes as they arrive. Throws if there are fewer. */
  pass(count: number): AsyncGenerator<Uint8Array>
  skip(count: number): Promise<void>
  /** Reads to the end of the stream, so that an error of it is thrown. */
  skipAll(): Promise<void>
}

function createSource(stream: AsyncIterable<Uint8Array>): Source {
  const chunks = stream[Symbol.asyncIterator]()
  let rest: Uint8Array = Buffer.alloc(0)
  const next = async (count: number): Promise<Uint8Array> => {
    while (rest.byteLength === 0) {
      const { done, value } = await chunks.next()
      if (done) throw new Error('the zip archive of git is truncated')
      rest = value
    }
    const part = rest.subarray(0, count)
    rest = rest.subarray(part.byteLength)
    return part
  }
  async function* pass(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      const part = await next(left)
      left -= part.byteLength
      yield part
    }
  }
  return {
    async read(count) {
      const bytes = Buffer.alloc(count)
      let at = 0
      for await (const part of pass(count)) {
        bytes.set(part, at)
        at += part.byteLength
      }
      return bytes
    },
    pass,
    async skip(count) {
      for await (const _ of pass(count)) {
        // The content of a removed entry is dropped.
      }
    },
    async skipAll() {
      while (!(await chunks.next()).done) {
        // After the signature, only the rest of the end record follows.
      }
    },
  }
}
