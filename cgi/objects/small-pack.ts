/** Packs of a few objects, made of the packs of a repository without a process. */

import { createHash } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { parseCommit } from './commit-object.js'
import { writeEntryHead } from './pack-entry.js'
import type { Decoded, PackedObjects } from './packed-objects.js'
import type { TreeBytes, TreeEntry } from './tree.js'
import { unsharedEntries } from './unshared-entries.js'

/**
 * Limits of the packs for clients that have former versions of the files: for larger packs, git
 * finds deltas that make them much shorter.
 */
export const UPDATE_LIMITS = { objectsMax: 200, bytesMax: 65_536 } as const

const deflateInPool = promisify(deflate)

/** Maximum size of an object that this thread deflates; the thread pool deflates larger ones. */
const OWN_THREAD_BYTES_MAX = 16_384

/** A set of objects. */
export interface NewContents {
  /**
   * Pairs of commits. The set has the first one of each pair, and its trees and files that the
   * second one does not have; all of them if there is no second one.
   */
  readonly pairs: ReadonlyArray<readonly [commit: string, other: string | undefined]>
  readonly objectsMax: number
}

/** Contents of a pack. */
export interface SmallContents extends NewContents {
  /** Maximum size of the pack in bytes. */
  readonly bytesMax: number
}

export interface SmallPack {
  readonly bytes: Buffer
  /** Ids of its objects. */
  readonly ids: ReadonlySet<string>
}

/** Reader of whole objects. */
export type ObjectSource = Pick<PackedObjects, 'readDecoded'>

/**
 * Returns a pack that has whole objects only. Returns undefined if git must make it: if it would be
 * too large, or if an object cannot be read here.
 */
export async function smallPack(
  source: ObjectSource,
  contents: SmallContents,
): Promise<SmallPack | undefined> {
  return await unlessLeft(async () => {
    const objects = await findNew(source, contents)
    return { bytes: await writePack(objects, contents.bytesMax), ids: objects.ids }
  })
}

/** Returns the ids of the trees. Returns undefined if git must list them, as for `smallPack`. */
export async function newTreeIds(
  source: ObjectSource,
  contents: NewContents,
): Promise<ReadonlySet<string> | undefined> {
  return await unlessLeft(async () => (await findNew(source, contents)).trees)
}

async function findNew(source: ObjectSource, { pairs, objectsMax }: NewContents) {
  const objects = new NewObjects(source, objectsMax)
  for (const [commit, other] of pairs) await objects.add(commit, other)
  return objects
}

async function unlessLeft<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LeftToGit) return undefined
    throw error
  }
}

class LeftToGit extends Error {
  override readonly name = 'LeftToGit'
}

/** Differing trees: a new one, and the former one at its place. */
type Trees = readonly [young: string, former: string | undefined]

/** A new entry of a tree, and the former folder at its place. */
type NewEntry = readonly [entry: TreeEntry, former: string | undefined]

/** Maximum size of the trees that are compared. */
const COMPARED_BYTES_MAX = 4_194_304
/** Size of compared trees after which other requests have their turn. */
const TURN_BYTES = 131_072

class NewObjects {
  /** Ids of the new objects, in the order in which they were found. */
  readonly ids = new Set<string>()
  /** Ids of new trees. */
  readonly trees = new Set<string>()
  readonly #source: ObjectSource
  readonly #objectsMax: number
  readonly #read = new Map<string, Decoded>()
  /** Pairs of trees that were compared: a tree can name the same tree many times. */
  readonly #compared = new Set<string>()
  #comparedBytes = 0
  #turnBytes = 0

  constructor(source: ObjectSource, objectsMax: number) {
    this.#source = source
    this.#objectsMax = objectsMax
  }

  /** Adds a commit, and its trees and files that the other one does not have. */
  async add(commit: string, other: string | undefined): Promise<void> {
    const tree = await this.#treeOf(commit)
    const former = other === undefined ? undefined : await this.#treeOf(other)
    this.#note(commit)
    const waiting: Trees[] = tree === former ? [] : [[tree, former]]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const pair = next.join()
      if (this.#compared.has(pair)) continue
      this.#compared.add(pair)
      this.#note(next[0])
      this.trees.add(next[0])
      for (const [entry, place] of await this.#differing(next)) {
        if (entry.kind === 'directory') waiting.push([entry.id, place])
        else if (entry.kind !== 'submodule') this.#note(entry.id)
      }
    }
  }

  async read(id: string): Promise<Decoded> {
    const known = this.#read.get(id)
    if (known !== undefined) return known
    const object = await this.#source.readDecoded(id)
    if (object === undefined) throw new LeftToGit(`${id} is not readable here`)
    this.#read.set(id, object)
    return object
  }

  /** Returns the entries of a tree that the former one does not have, with the former folders. */
  async #differing([young, former]: Trees): Promise<readonly NewEntry[]> {
    const none: TreeBytes = { content: Buffer.alloc(0), idBytes: young.length / 2 }
    const both = [
      await this.#treeBytes(young),
      former === undefined ? none : await this.#treeBytes(former),
    ] as const
    await this.#spend(both[0].content.length + both[1].content.length)
    const [mine, theirs] = unsharedEntries(...both)
    const places = new Map(theirs.map((entry) => [entry.nameBytes.toString('latin1'), entry]))
    return mine.flatMap((entry): readonly NewEntry[] => {
      const place = places.get(entry.nameBytes.toString('latin1'))
      // Only the mode differs.
      if (place?.id === entry.id) return []
      return [[entry, place?.kind === 'directory' ? place.id : undefined]]
    })
  }

  async #spend(bytes: number): Promise<void> {
    this.#comparedBytes += bytes
    if (this.#comparedBytes > COMPARED_BYTES_MAX) throw new LeftToGit('the trees are long')
    this.#turnBytes += bytes
    if (this.#turnBytes < TURN_BYTES) return
    this.#turnBytes = 0
    await nextTick()
  }

  async #treeBytes(id: string): Promise<TreeBytes> {
    const { type, content } = await this.read(id)
    if (type !== 'tree') throw new LeftToGit(`${id} is not a tree`)
    return { content, idBytes: id.length / 2 }
  }

  async #treeOf(commit: string): Promise<string> {
    const { type, content } = await this.read(commit)
    if (type !== 'commit') throw new LeftToGit(`${commit} is not a commit`)
    return parseCommit(commit, content).tree
  }

  #note(id: string): void {
    this.ids.add(id)
    if (this.ids.size > this.#objectsMax) throw new LeftToGit('the pack has many objects')
  }
}

/** Signature, version and number of objects of a pack (gitformat-pack(5)). */
function packHead(count: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1')
  head.writeUInt32BE(count, 8)
  return head
}

async function writePack(objects: NewObjects, bytesMax: number): Promise<Buffer> {
  const parts = [packHead(objects.ids.size)]
  let bytes = 0
  for (const id of objects.ids) {
    const object = await objects.read(id)
    const deflated = object.deflated ?? (await deflatedOf(object))
    parts.push(writeEntryHead(object.type, object.content.length), deflated)
    bytes += deflated.length
    if (bytes > bytesMax) throw new LeftToGit('the pack is long')
  }
  const [first = ''] = objects.ids
  const digest = createHash(first.length === 64 ? 'sha256' : 'sha1')
  for (const part of parts) digest.update(part)
  return Buffer.concat([...parts, digest.digest()])
}

async function deflatedOf({ content }: Decoded): Promise<Buffer> {
  return content.length > OWN_THREAD_BYTES_MAX ? await deflateInPool(content) : deflateSync(content)
}
