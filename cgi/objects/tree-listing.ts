/** Recursive listings of trees, up to a maximum. */

import { LRUCache } from 'lru-cache'
import type { Git } from '../process/git.js'
import { fullId, gitRecordBatches } from '../process/git-output.js'
import { modeOf, type TreeEntry } from './tree.js'

/** A tree entry with its full path. */
export type ListedEntry = Omit<TreeEntry, 'nameBytes' | 'name'> & { readonly path: string }

export interface TreeListing {
  /** Number of entries, up to the maximum. */
  readonly count: number
  /** True if there are more entries than the maximum. */
  readonly isCut: boolean
  /** Parses the entries from index `from` up to index `to`, exclusive; by default all. */
  entries(from?: number, to?: number): ListedEntry[]
}

export interface TreeListingInput {
  /** Limits the time, because a few hundred bytes of objects can name billions of paths. */
  readonly entriesMax: number
  /** True to list folders too. */
  readonly hasFolders?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Approximate memory of a string besides its characters. */
const ENTRY_BYTES = 24

/** Maximum number of characters of a listing, because paths of nested folders can be long. */
const CHARACTERS_MAX = 33_554_432

/** Approximate memory of all cached listings, and of the longest one. */
const KNOWN_BYTES_MAX = 16_777_216
const LISTING_BYTES_MAX = 4_194_304

/** Cached listings. They never expire, because trees are immutable; callers have read the tree. */
const known = new LRUCache<string, TreeListing>({
  maxSize: KNOWN_BYTES_MAX,
  maxEntrySize: LISTING_BYTES_MAX,
})

/** Lists the entries below a tree at any depth, in git's order. */
export async function listTree(
  git: Git,
  path: string,
  treeId: string,
  { entriesMax, hasFolders = true, signal }: TreeListingInput,
): Promise<TreeListing> {
  const key = `${path} ${fullId(treeId)} ${entriesMax} ${hasFolders}`
  const cached = known.get(key)
  if (cached !== undefined) return cached
  const records: string[] = []
  let characters = 0
  const isCut = () => records.length > entriesMax || characters > CHARACTERS_MAX
  const folders = hasFolders ? ['-t'] : []
  const args = ['ls-tree', '-r', ...folders, '-z', '--full-tree', fullId(treeId)]
  for await (const batch of gitRecordBatches(git, args, { cwd: path, separator: '\0', signal })) {
    for (const record of batch) {
      records.push(record)
      characters += record.length
    }
    if (isCut()) break
  }
  const count = Math.min(records.length, entriesMax)
  const listing: TreeListing = {
    count,
    isCut: isCut(),
    entries: (from = 0, to = count) => records.slice(from, Math.min(to, count)).map(entryOf),
  }
  known.set(key, listing, { size: 500 + characters + ENTRY_BYTES * records.length })
  return listing
}

function entryOf(record: string): ListedEntry {
  const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(record) ?? []
  return { ...modeOf(mode), id, path }
}
