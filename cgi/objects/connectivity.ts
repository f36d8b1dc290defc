/** Check that a received pack has all objects of the commits that it adds to a branch. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { hasGrafts } from '../repository/repository-state.js'
import { parseCommit } from './commit-object.js'
import { LooseObjects } from './loose-objects.js'
import { type Decoded, listPacks, PackedObjects } from './packed-objects.js'
import { type NewContents, newObjectIds } from './small-pack.js'

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
 * Result of the check: the pack has each object that `after` reaches and `before` does not; git
 * must look for some of them; or `after` is no commit that can be read here.
 */
export type Completeness = 'complete' | 'unproven' | 'no-commit'

/**
 * Checks if a branch can be moved.
 *
 * The pack must have all commits down to `before`, and of each one the objects that its first
 * parent does not have. That parent was checked in the same way, or is `before` and complete.
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
    const pairs = await newPairs(packs, received)
    const contents = pairs && { pairs, objectsMax: OBJECTS_MAX }
    const ids = contents && (await newObjectIds({ readDecoded }, contents))
    for (const id of ids ?? []) if ((await packs.findPack(id)) !== pack) return 'unproven'
    return ids === undefined ? 'unproven' : 'complete'
  } finally {
    await packs.close()
  }
}

/** Returns the new commits, each with its first parent; undefined if one is not in the pack. */
async function newPairs(
  packs: PackedObjects,
  { pack, before, after }: ReceivedPack,
): Promise<NewContents['pairs'] | undefined> {
  const pairs = new Map<string, string | undefined>()
  const waiting = [after]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === before || pairs.has(id)) continue
    const found = await packs.read(id)
    const { type, content } = found?.object ?? {}
    if (found?.pack !== pack || type !== 'commit' || content === undefined) return undefined
    const { parents } = parseCommit(id, content)
    if (pairs.set(id, parents[0]).size > COMMITS_MAX) return undefined
    waiting.push(...parents)
  }
  return [...pairs]
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
