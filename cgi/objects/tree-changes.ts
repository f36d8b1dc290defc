/** Paths that differ between two trees, read folder by folder up to a limit. */

import type { ObjectReader } from './objects.js'
import { type TreeBytes, type TreeEntry, treeBytes } from './tree.js'
import { unsharedEntries } from './unshared-entries.js'

export interface ChangedPath {
  readonly path: string
  readonly status: 'added' | 'removed' | 'modified'
}

/**
 * Number of entries that may still be read. Git itself would list ten billion entries before it
 * printed one. An entry with a long path counts as several.
 */
export interface Budget {
  entries: number
}

/** Each 256 characters of a path count as one more entry, because nested paths can be long. */
const PATH_CHARACTERS = 256

/** Ids of two trees; undefined for an empty side. */
export interface TreePair {
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Lists the files, links and submodules that differ, sorted by path. Subtracts the entries that it
 * reads from the budget, and returns undefined if the budget is exceeded.
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

/** Returns the entries that differ between two trees, not including those of subfolders. */
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
  const removed = [...former.values()].map((entry) => [entry, undefined] as const)
  return [...pairs, ...removed].filter(
    ([one, other]) => one?.id !== other?.id || one?.mode !== other?.mode,
  )
}

const NOTHING: TreeBytes = { content: Buffer.alloc(0), idBytes: 20 }

/** Reads a tree; undefined if it is missing. */
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
