/** Which paths differ between two trees, read step by step and within bounds. */

import type { ObjectReader } from './objects.js'
import { type TreeBytes, type TreeEntry, treeBytes } from './tree.js'
import { unsharedEntries } from './unshared-entries.js'

export interface ChangedPath {
  readonly path: string
  readonly status: 'added' | 'removed' | 'modified'
}

/**
 * How many entries are still looked at: git itself would list ten billion before it says one. An
 * entry with a long path counts for several.
 */
export interface Budget {
  entries: number
}

/** Characters of a path that count as one more entry: paths of nested folders grow with each. */
const PATH_CHARACTERS = 256

/** Two trees by id; none for a side that holds nothing. */
export interface TreePair {
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * The files, links and submodules that differ, folder by folder. Undefined where looking would cost
 * more than the budget, from which each look is taken.
 */
export async function changedPaths(
  objects: ObjectReader,
  pair: TreePair,
  budget: Budget,
): Promise<readonly ChangedPath[] | undefined> {
  const changed: ChangedPath[] = []
  const waiting = [{ ...pair, prefix: '' }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { prefix } = next
    for (const [before, after] of await differingEntries(objects, next)) {
      const path = prefix + (before ?? after)?.name
      budget.entries -= 1 + Math.floor(path.length / PATH_CHARACTERS)
      if (budget.entries < 0) return undefined
      const folders = { before: folderOf(before), after: folderOf(after) }
      if (folders.before !== undefined || folders.after !== undefined) {
        waiting.push({ ...folders, prefix: `${path}/` })
      }
      const status = statusOf(fileOf(before), fileOf(after))
      if (status !== undefined) changed.push({ path, status })
    }
  }
  return changed.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** The names in either tree that do not mean the same in both. */
export async function differingEntries(
  objects: ObjectReader,
  { before, after }: TreePair,
): Promise<readonly (readonly [TreeEntry | undefined, TreeEntry | undefined])[]> {
  if (before === after) return []
  const [one, other] = await Promise.all([before, after].map((id) => readBytes(objects, id)))
  const [old, young] = unsharedEntries(one ?? NOTHING, other ?? NOTHING)
  const former = new Map(old.map((entry) => [entry.name, entry]))
  const pairs = young.map((entry) => {
    const other = former.get(entry.name)
    former.delete(entry.name)
    return [other, entry] as const
  })
  const gone = [...former.values()].map((entry) => [entry, undefined] as const)
  return [...pairs, ...gone].filter(
    ([one, other]) => one?.id !== other?.id || one?.mode !== other?.mode,
  )
}

const NOTHING: TreeBytes = { content: Buffer.alloc(0), idBytes: 20 }

/** None where the tree is missing. */
async function readBytes(
  objects: ObjectReader,
  id: string | undefined,
): Promise<TreeBytes | undefined> {
  const tree = id === undefined ? undefined : await objects.read(id)
  return tree?.type === 'tree' ? treeBytes(tree) : undefined
}

function folderOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'directory' ? entry.id : undefined
}

function fileOf(entry: TreeEntry | undefined): TreeEntry | undefined {
  return entry?.kind === 'directory' ? undefined : entry
}

function statusOf(
  before: TreeEntry | undefined,
  after: TreeEntry | undefined,
): ChangedPath['status'] | undefined {
  if (before === undefined) return after === undefined ? undefined : 'added'
  return after === undefined ? 'removed' : 'modified'
}
