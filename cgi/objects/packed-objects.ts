/** Small objects of one request, read from the packs of a repository without a process. */

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { constants, inflateSync } from 'node:zlib'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import type { GitObject, ObjectType } from './cat-file.js'
import type { ObjectReader } from './objects.js'
import { applyDelta, resultSizeOf } from './pack-delta.js'
import { ENTRY_HEADER_BYTES_MAX, type PackEntry, parseEntry } from './pack-entry.js'
import { findInIndex } from './pack-index.js'
import { WindowedFile } from './windowed-file.js'

/** Maximum number of packs; git, which can have an index of all packs, is quicker with more. */
const PACKS_MAX = 16
/** Maximum size of an object, and of each base and delta that it is made of. */
const OBJECT_BYTES_MAX = 262_144
/** Maximum number of deltas between an object and its base, somewhat above git's 50. */
const DELTAS_MAX = 64
/** Number of deflated bytes that have the two sizes which a delta begins with, and their codes. */
const DELTA_HEAD_BYTES = 512
/** Maximum size of all objects, bases and deltas of a request, and of the parts of files. */
const DECODED_BYTES_MAX = 4_194_304
const WINDOW_BYTES_MAX = 8_388_608
/** Maximum number of open files, and of bytes in memory, of all requests of a worker. */
const OPEN_FILES_MAX = 512
const HELD_BYTES_MAX = 67_108_864
/** Maximum number of reads of a request. */
const READS_MAX = 2_000
/** Size of decoded bytes, and number of reads, after which other requests have their turn. */
const TURN_BYTES = 131_072
const TURN_READS = 100

interface Pack {
  readonly name: string
  /** Undefined until an object is looked for. */
  index: WindowedFile | undefined
  /** Undefined until an object is found. */
  entries: WindowedFile | undefined
  /** Decoded objects, and types of others, by offset. */
  readonly decoded: Map<number, Decoded>
  readonly types: Map<number, ObjectType>
}

/** An object with its content. */
export interface Decoded {
  readonly type: ObjectType
  readonly content: Buffer
  /** Deflated content as the pack has it; undefined if the pack has a delta instead. */
  readonly deflated: Buffer | undefined
}

/** An object, and the name of its pack. */
export interface PackedObject {
  readonly object: GitObject
  readonly pack: string
}

/** Place of an object in a pack. */
interface Place {
  readonly pack: string
  readonly index: WindowedFile
  readonly entries: WindowedFile
  readonly decoded: Map<number, Decoded>
  readonly types: Map<number, ObjectType>
  readonly offset: number
  readonly idBytes: number
}

/** Returns the names of the packs of the repository at `path`, such as `pack-1234.pack`. */
export function listPacks(path: string): ReadonlySet<string> {
  const names = unlessMissingSync(() => readdirSync(join(path, 'objects', 'pack'))) ?? []
  return new Set(names.filter((name) => name.endsWith('.pack')))
}

/** Opens the present packs of the repository at `path`. */
export function openPacks(path: string): PackedObjects {
  return new PackedObjects(path, listPacks(path))
}

/** Runs `use` with the present packs of the repository at `path`. */
export async function withPacks<T>(
  path: string,
  use: (packs: PackedObjects) => Promise<T>,
): Promise<T> {
  const packs = openPacks(path)
  return await use(packs).finally(() => packs.close())
}

/** Number of open files, and of bytes in memory, of all requests. */
let openFiles = 0
let heldBytes = 0

/**
 * Reads objects until `close`. What it cannot read is left to git: missing and large objects, those
 * that are not in packs, and damaged files. The digest of each content is checked.
 */
export class PackedObjects {
  readonly #path: string
  readonly #packs: readonly Pack[]
  readonly #files: WindowedFile[] = []
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #reads = 0
  #windowBytes = 0
  #decodedBytes = 0
  #turnBytes = 0

  /** Takes the names of the packs of the repository at `path`; see `listPacks`. */
  constructor(path: string, names: ReadonlySet<string>) {
    this.#path = join(path, 'objects', 'pack')
    const isUsable = names.size <= PACKS_MAX && openFiles < OPEN_FILES_MAX
    this.#packs = (isUsable ? [...names] : []).map((name) => {
      return { name, index: undefined, entries: undefined, decoded: new Map(), types: new Map() }
    })
  }

  /** Reader of the same objects, without the names of their packs. */
  readonly objects: Pick<ObjectReader, 'read'> = {
    read: async (id) => (await this.read(id))?.object,
  }

  /** Returns an object with its content; undefined if git must read it. */
  async read(id: string): Promise<PackedObject | undefined> {
    return await this.#unlessFailed(id, async (place) => {
      const { type, content } = await this.#decodeChecked(place, id)
      return { object: { id, type, sizeBytes: content.length, content }, pack: place.pack }
    })
  }

  /** Returns an object as a pack has it; undefined if git must read it. */
  async readDecoded(id: string): Promise<Decoded | undefined> {
    return await this.#unlessFailed(id, (place) => this.#decodeChecked(place, id))
  }

  /** Returns the name of the first pack that has the object; git must look for the others. */
  async findPack(id: string): Promise<string | undefined> {
    return await this.#unlessFailed(id, async ({ pack }) => pack)
  }

  /** Returns an object without its content; undefined if git must read it. */
  async readInfo(id: string): Promise<PackedObject | undefined> {
    return await this.#unlessFailed(id, async (place) => {
      const entry = await entryAt(place)
      const isDelta = entry.type === undefined
      const sizeBytes = isDelta ? await resultSizeAt(place, entry) : entry.sizeBytes
      const type = await typeOf(place, entry)
      return { object: { id, type, sizeBytes, content: undefined }, pack: place.pack }
    })
  }

  /** Closes the files after the reads that have begun. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
    openFiles -= this.#files.length
    heldBytes -= this.#decodedBytes + this.#windowBytes
    for (const file of this.#files) file.close()
  }

  async #open(name: string): Promise<WindowedFile> {
    const path = join(this.#path, name)
    const file = await WindowedFile.open(path, (bytes) => this.#spendWindow(bytes))
    this.#files.push(file)
    openFiles += 1
    return file
  }

  /** Runs `read` after the reads before it, because objects of one chain share their bases. */
  #unlessFailed<T>(id: string, read: (place: Place) => Promise<T>): Promise<T | undefined> {
    const result = this.#last.then(() => this.#tryToRead(id, read))
    this.#last = result
    return result
  }

  async #tryToRead<T>(id: string, read: (place: Place) => Promise<T>): Promise<T | undefined> {
    if (this.#isClosed || this.#reads === READS_MAX) return undefined
    this.#reads += 1
    if (this.#reads % TURN_READS === 0) await nextTick()
    try {
      const wanted = Buffer.from(id, 'hex')
      for (const pack of this.#packs) {
        pack.index ??= await this.#open(pack.name.replace(/\.pack$/, '.idx'))
        const offset = await findInIndex(pack.index, wanted)
        if (offset === undefined) continue
        pack.entries ??= await this.#open(pack.name)
        const { name, index, entries, decoded, types } = pack
        const idBytes = wanted.length
        return await read({ pack: name, index, entries, decoded, types, offset, idBytes })
      }
    } catch {
      // Git reads the object then, and reports what is wrong with it.
    }
    return undefined
  }

  async #decodeChecked(place: Place, id: string): Promise<Decoded> {
    const decoded = await this.#decode(place)
    const { type, content } = decoded
    const digest = createHash(id.length === 40 ? 'sha1' : 'sha256')
    digest.update(`${type} ${content.length}\0`).update(content)
    if (digest.digest('hex') !== id) throw new Error('an object has another digest')
    return decoded
  }

  /** Decodes an object: its first base, and the deltas that are applied to it. */
  async #decode(place: Place): Promise<Decoded> {
    const { decoded } = place
    const deltas: { readonly offset: number; readonly entry: PackEntry }[] = []
    let { offset } = place
    let object = decoded.get(offset)
    while (object === undefined) {
      const entry = await entryAt({ ...place, offset })
      const { type, base } = entry
      if (type !== undefined) {
        object = { type, ...(await this.#inflate(place, entry)) }
        decoded.set(offset, object)
        break
      }
      if (deltas.push({ offset, entry }) > DELTAS_MAX) throw new Error('too many deltas')
      offset = await baseAt(place, base)
      object = decoded.get(offset)
    }
    for (const delta of deltas.toReversed()) {
      const { content: bytes } = await this.#inflate(place, delta.entry)
      await this.#spendDecoded(resultSizeOf(bytes))
      const content = applyDelta(object.content, bytes)
      object = { type: object.type, content, deflated: undefined }
      decoded.set(delta.offset, object)
    }
    return object
  }

  async #inflate({ entries }: Place, { sizeBytes, dataAt }: PackEntry) {
    await this.#spendDecoded(sizeBytes)
    // Deflate makes bytes that it cannot compress longer by less than this.
    const bytes = await entries.bytes(dataAt, sizeBytes + Math.ceil(sizeBytes / 512) + 64)
    const { content, usedBytes } = inflate(bytes, sizeBytes)
    return { content, deflated: bytes.subarray(0, usedBytes) }
  }

  async #spendDecoded(bytes: number): Promise<void> {
    if (bytes > OBJECT_BYTES_MAX || this.#decodedBytes + bytes > DECODED_BYTES_MAX) {
      throw new Error('the object is too large, or the request reads too much')
    }
    hold(bytes)
    this.#decodedBytes += bytes
    this.#turnBytes += bytes
    if (this.#turnBytes < TURN_BYTES) return
    this.#turnBytes = 0
    await nextTick()
  }

  #spendWindow(bytes: number): void {
    if (this.#windowBytes + bytes > WINDOW_BYTES_MAX) throw new Error('the request reads too much')
    hold(bytes)
    this.#windowBytes += bytes
  }
}

function hold(bytes: number): void {
  if (heldBytes + bytes > HELD_BYTES_MAX) throw new Error('all requests read too much')
  heldBytes += bytes
}

/** Inflates an object at the beginning of `bytes`, and returns how many of them it takes. */
function inflate(bytes: Buffer, sizeBytes: number) {
  const maxOutputLength = Math.max(1, sizeBytes)
  const chunkSize = Math.max(64, sizeBytes + 1)
  const result: unknown = inflateSync(bytes, { maxOutputLength, chunkSize, info: true })
  // The types of Node.js lack the result of `info`.
  const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } }
  if (buffer.length !== sizeBytes) throw new Error('an object has another size')
  return { content: buffer, usedBytes: engine.bytesWritten }
}

async function entryAt({ entries, offset, idBytes }: Place): Promise<PackEntry> {
  return parseEntry(await entries.bytes(offset, ENTRY_HEADER_BYTES_MAX), { offset, idBytes })
}

/** Returns the offset of the base of a delta. */
async function baseAt({ index }: Place, base: PackEntry['base']): Promise<number> {
  const offset = typeof base === 'object' ? await findInIndex(index, base) : base
  if (offset === undefined) throw new Error('the base of a delta is missing')
  return offset
}

/** Returns the type of an object: for a delta, that of its first base. */
async function typeOf(place: Place, entry: PackEntry): Promise<ObjectType> {
  const { types } = place
  const offsets = [place.offset]
  let { type, base } = entry
  while (type === undefined) {
    if (offsets.length > DELTAS_MAX) throw new Error('too many deltas')
    const offset = await baseAt(place, base)
    type = types.get(offset)
    if (type !== undefined) break
    offsets.push(offset)
    ;({ type, base } = await entryAt({ ...place, offset }))
  }
  for (const offset of offsets) types.set(offset, type)
  return type
}

/** Returns the size of the object that a delta makes, which its first bytes name. */
async function resultSizeAt({ entries }: Place, { dataAt }: PackEntry): Promise<number> {
  const bytes = await entries.bytes(dataAt, DELTA_HEAD_BYTES)
  return resultSizeOf(inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 1_024 }))
}
