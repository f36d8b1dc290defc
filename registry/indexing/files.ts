/** The files of a new generation, composed of new bytes and of pieces of existing blobs. */

import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunningDigests, startDigests } from '../digests.js'
import type {
  FileContent,
  IndexOutput,
  PlacedText,
  Span,
  TextForm,
  WrittenFile,
} from '../index-maker.js'
import type { BlobStorage } from '../storage/storage.js'
import type { Place, Places } from './layout.js'
import { type Prefixes, prefixesOf } from './prefixes.js'
import type { Scratch } from './scratch.js'

export interface IndexFiles extends IndexOutput {
  /** Written files by their paths in the index. */
  readonly written: ReadonlyMap<string, WrittenIndexFile>
  readonly places: Places
  /** Closes all files, and removes those that were not moved. */
  discard(): Promise<void>
}

export interface WrittenIndexFile extends WrittenFile {
  /** Path on the disk. */
  readonly file: string
}

export interface IndexFilesOptions {
  readonly storage: BlobStorage
  readonly scratch: Scratch
  readonly prefixes: Prefixes
}

/** Opens an empty set of files. */
export function openIndexFiles(options: IndexFilesOptions): IndexFiles {
  const { storage } = options
  const written = new Map<string, WrittenIndexFile>()
  const handles = new Map<string, FileHandle>()
  const places = new Map<string, Partial<Record<TextForm, Place>>>()
  return {
    written,
    places,
    read: (content) => bytesOf(joined(content), options),
    async write(path, content) {
      if (written.has(path)) throw new Error(`an index has two files ${path}`)
      const file = join(storage.incomingFolder, randomBytes(16).toString('hex'))
      const handle = await open(file, 'wx+', 0o640)
      handles.set(file, handle)
      const filled = await fill(handle, content, options)
      const result = { path, bytes: filled.bytes, digests: filled.digests.finish() }
      written.set(path, { ...result, file })
      for (const { text, start } of placedIn(content)) {
        const known = places.get(text.name) ?? {}
        places.set(text.name, { ...known, [text.form]: { path, start } })
      }
      return result
    },
    async discard() {
      for (const [file, handle] of handles) {
        await handle.close()
        await rm(file, { force: true })
      }
    },
  }
}

interface Filled {
  readonly bytes: number
  readonly digests: RunningDigests
}

/** Writes a file. Its known prefix is copied without hashing, from the cached digests. */
async function fill(
  handle: FileHandle,
  content: FileContent,
  { prefixes, ...sources }: IndexFilesOptions,
): Promise<Filled> {
  const beginnings = prefixesOf(content)
  const known = prefixes.find(beginnings)
  const digests = known?.digests.copy() ?? startDigests()
  // The last piece is not part of the cached prefix, because the next upload usually changes it.
  const next = beginnings.at(-2)
  const pieces = joined(content)
  let bytes = 0
  const copy = async (to: number, isNew: boolean) => {
    for await (const chunk of bytesOf(cut(pieces, bytes, to), sources)) {
      const written = handle.writeFile(chunk)
      if (isNew) digests.update(chunk)
      await written
      bytes += chunk.byteLength
    }
  }
  if (known !== undefined) await copy(known.bytes, false)
  if (next !== undefined && next.bytes > bytes) {
    await copy(next.bytes, true)
    prefixes.keep({ ...next, digests: digests.copy() })
  }
  await copy(Number.POSITIVE_INFINITY, true)
  return { bytes, digests }
}

function placedIn(content: FileContent) {
  const found: Array<{ readonly text: PlacedText; readonly start: number }> = []
  let start = 0
  for (const piece of content) {
    if (piece instanceof Uint8Array) {
      start += piece.byteLength
      continue
    }
    found.push({ text: piece, start })
    for (const { bytes } of piece.spans) start += bytes
  }
  return found
}

/** Source of bytes: bytes in memory, or a span of a blob or of the scratch file. */
type Source = Uint8Array | Omit<Span, 'id'>

/** Returns the sources of a file, with adjacent spans merged. */
function joined(content: FileContent): readonly Source[] {
  const sources: Source[] = []
  const all = content.flatMap((piece): readonly Source[] =>
    piece instanceof Uint8Array ? [piece] : piece.spans,
  )
  for (const source of all) {
    const last = sources.at(-1)
    if (!(source instanceof Uint8Array) && last !== undefined && follows(last, source)) {
      sources[sources.length - 1] = { ...last, bytes: last.bytes + source.bytes }
    } else sources.push(source)
  }
  return sources
}

function follows(one: Source, other: Omit<Span, 'id'>): one is Omit<Span, 'id'> {
  if (one instanceof Uint8Array) return false
  return one.blobKey === other.blobKey && one.start + one.bytes === other.start
}

/** Returns the bytes of the sources from offset `from` up to, but not including, `to`. */
function cut(sources: readonly Source[], from: number, to: number): readonly Source[] {
  const parts: Source[] = []
  let at = 0
  for (const source of sources) {
    const bytes = source instanceof Uint8Array ? source.byteLength : source.bytes
    const [start, end] = [Math.max(from - at, 0), Math.min(to - at, bytes)]
    at += bytes
    if (start >= end) continue
    if (source instanceof Uint8Array) parts.push(source.subarray(start, end))
    else parts.push({ ...source, start: source.start + start, bytes: end - start })
  }
  return parts
}

async function* bytesOf(
  sources: readonly Source[],
  { storage, scratch }: Omit<IndexFilesOptions, 'prefixes'>,
): AsyncGenerator<Uint8Array> {
  for (const source of sources) {
    if (source instanceof Uint8Array) yield source
    else if (source.blobKey === undefined) yield* scratch.read(source.start, source.bytes)
    else {
      const { start, bytes } = source
      yield* await storage.open(source.blobKey, { start, end: start + bytes })
    }
  }
}
