/** Check that a received pack has all objects of the commits that it adds to a branch. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readStoredReferences } from '../refs/reference-files.js'
import { hasGrafts } from '../repository/repository-state.js'
import { parseCommit } from './commit-object.js'
import { LooseObjects } from './loose-objects.js'
import { type Decoded, listPacks, PackedObjects } from './packed-objects.js'
import { type NewContents, newTreeIds, type ObjectSource } from './small-pack.js'

/** A pack for a branch. */
export interface ReceivedPack {
  /** Path of the pack from the folder of the repository's packs; it may be in a quarantine. */
  readonly pack: string
  /** The present commit of the branch, of which the repository has all objects. */
  readonly before: string
  readonly after: string
}

/** Maximum number of commits, and of all objects, that a pack may add to a branch. */
const COMMITS_MAX = 100
const OBJECTS_MAX = 500

/**
 * Result of the check: no object that `after` reaches is missing; git must look for some of them;
 * or `after` is no commit that can be read here.
 */
export type Completeness = 'complete' | 'unproven' | 'no-commit'

/** Objects of the pack and the repository. */
interface Objects extends ObjectSource {
  readonly packs: PackedObjects
}

/**
 * Checks if a branch can be moved. `git index-pack --strict` must have indexed the pack: it refuses
 * one that names an object which is neither in the pack nor in the repository, also of files.
 *
 * The pack must have all commits down to complete ones, and of each one the trees that its first
 * parent does not have. That parent was checked in the same way, or is complete: it is `before` or
 * one of the commits before it, or a ref names it.
 */
export async function checkComplete(path: string, received: ReceivedPack): Promise<Completeness> {
  const { pack, after } = received
  const packs = new PackedObjects(path, new Set([pack, ...newestPacks(path)]))
  const loose = new LooseObjects(path)
  const readDecoded = async (id: string): Promise<Decoded | undefined> => {
    const { type, content } = (await packs.objects.read(id)) ?? (await loose.read(id)) ?? {}
    return type && content && { type, content, deflated: undefined }
  }
  try {
    if ((await readDecoded(after))?.type !== 'commit') return 'no-commit'
    if (hasGrafts(path)) return 'unproven'
    const pairs = await newPairs({ packs, readDecoded }, path, received)
    const contents = pairs && { pairs, objectsMax: OBJECTS_MAX }
    const trees = contents && (await newTreeIds({ readDecoded }, contents))
    for (const id of trees ?? []) if ((await packs.findPack(id)) !== pack) return 'unproven'
    return trees === undefined ? 'unproven' : 'complete'
  } finally {
    await packs.close()
  }
}

/**
 * Returns the commits of the pack that `after` reaches, each with its first parent. Returns
 * undefined if one of them has another parent that is not known to be complete.
 */
async function newPairs(
  { packs, readDecoded }: Objects,
  path: string,
  { pack, before, after }: ReceivedPack,
): Promise<NewContents['pairs'] | undefined> {
  const pairs = new Map<string, string | undefined>()
  let named: ReadonlySet<string> | undefined
  let former: ReadonlySet<string> | undefined
  const waiting = [after]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === before || pairs.has(id)) continue
    const found = await packs.read(id)
    const { type, content } = found?.object ?? {}
    if (found?.pack === pack && type === 'commit' && content !== undefined) {
      const { parents } = parseCommit(id, content)
      if (pairs.set(id, parents[0]).size > COMMITS_MAX) return undefined
      waiting.push(...parents)
    } else {
      named ??= namedIds(path)
      if (named.has(id)) continue
      former ??= await formerCommits(before, readDecoded)
      if (!former.has(id)) return undefined
    }
  }
  return [...pairs]
}

/** Returns the ids that refs name, if these are few. */
function namedIds(path: string): ReadonlySet<string> {
  const { loose, packed } = readStoredReferences(path) ?? {}
  const ids = new Set(loose?.values())
  // A loose ref hides the former id that is still packed, whose objects may be missing.
  for (const [name, { oid }] of packed ?? []) if (!loose?.has(name)) ids.add(oid)
  return ids
}

/** Maximum number of commits before the present one that a changed branch may continue. */
const FORMER_COMMITS_MAX = 20

/** Returns the commits before the present one, along first parents. */
async function formerCommits(
  before: string,
  readDecoded: ObjectSource['readDecoded'],
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  let id: string | undefined = before
  while (id !== undefined && ids.size < FORMER_COMMITS_MAX) {
    const object: Decoded | undefined = await readDecoded(id)
    id = object && parseCommit(id, object.content).parents[0]
    if (id !== undefined) ids.add(id)
  }
  return ids
}

/** Maximum number of the repository's packs that are read: `before` is usually in the newest. */
const OTHER_PACKS_MAX = 12
/** Maximum number of packs whose times are compared. */
const COMPARED_PACKS_MAX = 200

/** Returns the names of the newest packs; none if there are too many to compare. */
function newestPacks(path: string): readonly string[] {
  const folder = join(path, 'objects', 'pack')
  const names = [...listPacks(path)]
  if (names.length > COMPARED_PACKS_MAX) return []
  const dated = names.map((name) => {
    return { name, atMs: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  })
  const sorted = dated.sort((one, other) => other.atMs - one.atMs)
  return sorted.slice(0, OTHER_PACKS_MAX).map(({ name }) => name)
}
