/** Reader of objects for one request: from the cache, their files, or a process. */

import type { FoundReference } from '../refs/read-reference.js'
import type { GitObject } from './cat-file.js'
import { parseCommit, parseTag } from './commit-object.js'
import { KEPT_CONTENT_BYTES_MAX, type KeptReader } from './kept-reader.js'
import type { LooseObjects } from './loose-objects.js'
import {
  CONTENT_BYTES_MAX,
  isObjectName,
  notAnObject,
  type ObjectReader,
  type OpenObjects,
} from './objects.js'
import type { PackedObject, PackedObjects } from './packed-objects.js'

/** Ids of refs by name, in one state of the repository; undefined for refs that do not exist. */
export interface KnownNames {
  readonly stateText: string
  readonly ids: Map<string, string | undefined>
}

/** Sources of objects. */
export interface RequestSources {
  /** Starts a process for this request alone. */
  openSeparate(): Promise<OpenObjects>
  /** Opens the packs of the repository. */
  openPacks(): PackedObjects
  /** Opens the loose objects of the repository. */
  openLoose(): LooseObjects
  /** Finds a ref in the files of the repository; undefined if git must look for it. */
  readReference(name: string): Promise<FoundReference | undefined>
  /** Undefined if nothing is shared with other requests. */
  readonly shared?: SharedSources
}

/** Sources that the requests to a repository share. */
export interface SharedSources {
  /** Returns the kept process of the repository. */
  readerOf(): KeptReader
  /** Returns the ids of refs in the present state; undefined if they must be read. */
  namesOf(): KnownNames | undefined
  /** Returns a cached object, or its cached size, by full id. */
  find(id: string): GitObject | undefined
  findSize(id: string): number | undefined
  /** Caches an object, or its size, that was not read from a pack. */
  remember(object: GitObject): void
  /** Caches an object that was read from a pack. */
  rememberPacked(object: GitObject, pack: string): void
  rememberSize(id: string, sizeBytes: number): void
}

/** Maximum number of reads from the kept process; a request that needs more gets its own. */
const READS_MAX = 2_000

/** Maximum number of refs whose ids are known in one state. */
const NAMES_MAX = 1_000

/** Maximum length of a chain of annotated tags that is followed here. */
const TAGS_MAX = 10

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SUFFIX = /\^\{(commit|tree)\}$/

export class ReaderOfRequest implements ObjectReader {
  readonly #sources: RequestSources
  readonly #shared: SharedSources | undefined
  #separate: Promise<OpenObjects> | undefined
  #packs: PackedObjects | undefined
  #loose: LooseObjects | undefined
  #reads = 0

  constructor(sources: RequestSources) {
    this.#sources = sources
    this.#shared = sources.shared
  }

  async read(name: string, contentBytesMax = CONTENT_BYTES_MAX): Promise<GitObject | undefined> {
    if (!isObjectName(name)) throw notAnObject(name)
    const [suffix = '', type] = SUFFIX.exec(name) ?? []
    const place = suffix === '' ? name : name.slice(0, -suffix.length)
    const isId = FULL_ID.test(place)
    // Git itself finds the only object whose id begins with a prefix.
    if (!isId && /^[0-9a-f]+$/.test(place)) return this.#readApart(name, contentBytesMax)
    const id = isId ? place : await this.#idOf(place)
    if (id === undefined) return undefined
    if (type === undefined) return this.#readById(id, contentBytesMax)
    return this.#peel(id, { name, isTree: type === 'tree', contentBytesMax })
  }

  async readSizes(
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>()
    const missing = new Set<string>()
    for (const id of ids) {
      const size = this.#shared?.findSize(id)
      if (size === undefined) missing.add(id)
      else sizes.set(id, size)
    }
    if (missing.size === 0) return sizes
    if (this.#reads + missing.size <= READS_MAX) {
      const found = await this.#readInfo([...missing])
      for (const object of found ?? []) if (object) sizes.set(object.id, object.sizeBytes)
      if (found !== undefined) return sizes
    }
    const others = await (await this.#openSeparate()).readSizes([...missing], signal)
    for (const [id, size] of others) {
      this.#shared?.rememberSize(id, size)
      sizes.set(id, size)
    }
    return sizes
  }

  /** Closes the packs, and ends the separate process, if there is one. */
  async close(): Promise<void> {
    await this.#packs?.close()
    await (await this.#separate)?.close()
  }

  /** Follows tags to a commit, and to its tree. Returns undefined if there is none. */
  async #peel(
    id: string,
    input: { readonly name: string; readonly isTree: boolean; readonly contentBytesMax: number },
  ): Promise<GitObject | undefined> {
    const { name, isTree, contentBytesMax } = input
    let object = await this.#readById(id)
    for (let tags = 0; object?.type === 'tag'; tags += 1) {
      if (tags === TAGS_MAX || object.content === undefined) {
        return this.#readApart(name, contentBytesMax)
      }
      object = await this.#readById(parseTag(object.id, object.content).object)
    }
    const content = object?.content
    if (object?.type !== 'commit') return isTree && object?.type === 'tree' ? object : undefined
    if (content === undefined) return this.#readApart(name, contentBytesMax)
    return isTree ? this.#readById(parseCommit(object.id, content).tree, contentBytesMax) : object
  }

  async #readById(id: string, contentBytesMax = CONTENT_BYTES_MAX): Promise<GitObject | undefined> {
    const known = this.#shared?.find(id)
    if (known !== undefined) return atMost(known, contentBytesMax)
    if (contentBytesMax === 0) {
      const found = await this.#readInfo([id])
      return found === undefined ? this.#readApart(id, 0) : found[0]
    }
    const knownBytes = this.#shared?.findSize(id) ?? 0
    if (knownBytes > KEPT_CONTENT_BYTES_MAX) return this.#readApart(id, contentBytesMax)
    const found = await this.#ask('contents', id)
    if (found === 'failed') return this.#readApart(id, contentBytesMax)
    if (found === undefined) return undefined
    // Only the separate process reads objects of this size.
    if (found.content === undefined) return this.#readApart(id, contentBytesMax)
    return atMost(found, contentBytesMax)
  }

  /** Reads objects without contents. Returns undefined if the separate process must read them. */
  async #readInfo(
    ids: readonly string[],
  ): Promise<ReadonlyArray<GitObject | undefined> | undefined> {
    const found = await Promise.all(ids.map((id) => this.#ask('info', id)))
    const objects: (GitObject | undefined)[] = []
    for (const object of found) {
      if (object === 'failed') return undefined
      objects.push(object)
    }
    return objects
  }

  /** Returns the id of a ref; undefined if it does not exist. */
  async #idOf(name: string): Promise<string | undefined> {
    const names = this.#shared?.namesOf()
    if (names?.ids.has(name)) return names.ids.get(name)
    const found = (await this.#sources.readReference(name)) ?? (await this.#ask('info', name))
    if (found === 'failed') return (await this.#readApart(name, 0))?.id
    const id = found?.id
    if (names !== undefined && names.ids.size < NAMES_MAX) names.ids.set(name, id)
    return id
  }

  /** Reads an object by full id from the packs; undefined if git must read it. */
  async #inPacks(command: 'contents' | 'info', id: string): Promise<PackedObject | undefined> {
    this.#packs ??= this.#sources.openPacks()
    return await (command === 'info' ? this.#packs.readInfo(id) : this.#packs.read(id))
  }

  /** Reads a small loose object by full id; undefined if git must read it. */
  async #inFile(command: 'contents' | 'info', id: string): Promise<GitObject | undefined> {
    this.#loose ??= this.#sources.openLoose()
    const found = await this.#loose.read(id)
    if (found !== undefined) this.#shared?.remember(found)
    return found && command === 'info' ? { ...found, content: undefined } : found
  }

  async #ask(
    command: 'contents' | 'info',
    name: string,
  ): Promise<GitObject | 'failed' | undefined> {
    const isId = FULL_ID.test(name)
    const packed = isId ? await this.#inPacks(command, name) : undefined
    if (packed !== undefined) {
      this.#shared?.rememberPacked(packed.object, packed.pack)
      return packed.object
    }
    const loose = isId ? await this.#inFile(command, name) : undefined
    return loose ?? (await this.#askKept(command, name))
  }

  async #askKept(
    command: 'contents' | 'info',
    name: string,
  ): Promise<GitObject | 'failed' | undefined> {
    this.#reads += 1
    if (this.#shared === undefined || this.#reads > READS_MAX) return 'failed'
    try {
      const found = await this.#shared.readerOf().read(command, name)
      if (found !== undefined) this.#shared.remember(found)
      return found
    } catch {
      // Another request may have been the cause, so this one is tried again on its own.
      return 'failed'
    }
  }

  async #readApart(name: string, contentBytesMax: number): Promise<GitObject | undefined> {
    return await (await this.#openSeparate()).read(name, contentBytesMax)
  }

  async #openSeparate(): Promise<ObjectReader> {
    this.#separate ??= this.#sources.openSeparate()
    return (await this.#separate).objects
  }
}

function atMost(object: GitObject, contentBytesMax: number): GitObject {
  return object.sizeBytes <= contentBytesMax ? object : { ...object, content: undefined }
}
