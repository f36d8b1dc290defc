/** Counts the paths that git would walk in trees; reads each distinct tree only once. */

import type { ObjectReader } from './objects.js'
import type { TreeEntry } from './tree.js'
import { differingEntries, type TreePair } from './tree-changes.js'

/** Maximum depth of nested folders; newer versions of git refuse more (core.maxTreeDepth). */
const DEPTH_MAX = 2_048

/** Each 256 bytes of a path count as one more path, because git holds every path in full. */
const PATH_BYTES = 256

const READS_MAX = 64

/**
 * Returns true if the differences of all pairs together have at most `pathsMax` paths. For a pair
 * without `before`, these are all paths below the tree `after`.
 *
 * Callers must check this before they start git: git holds all paths of a merge, a diff or an
 * archive in memory before it writes the first byte, and ten small trees that are nested ten deep
 * have ten billion paths.
 */
export async function areWalkable(
  objects: ObjectReader,
  pairs: readonly TreePair[],
  pathsMax: number,
): Promise<boolean> {
  const folders = new Map<string, Folder>()
  let entries = 0
  let level: readonly TreePair[] = pairs
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return false
    const below: TreePair[] = []
    for (const part of partsOf(level.filter((pair) => !folders.has(keyOf(pair))))) {
      const read = await Promise.all(part.map((pair) => differingEntries(objects, pair)))
      for (const [index, differences] of read.entries()) {
        entries += differences.length
        if (entries > pathsMax) return false
        const folder = folderOf(differences)
        folders.set(keyOf(part[index]), folder)
        for (const { pair } of folder.subfolders) below.push(pair)
      }
    }
    level = [...new Map(below.map((pair) => [keyOf(pair), pair])).values()]
  }
  const sizes = pairs.map((pair) => sizeOf(folders, pair, 0))
  return sizes.reduce((sum, { paths, bytes }) => sum + paths + bytes / PATH_BYTES, 0) <= pathsMax
}

/** Differences of a pair of folders; `size` includes the differences below them, once computed. */
interface Folder {
  readonly paths: number
  readonly nameBytes: number
  readonly subfolders: readonly { readonly pair: TreePair; readonly nameBytes: number }[]
  size?: Size
}

interface Size {
  readonly paths: number
  /** Total length of all paths. */
  readonly bytes: number
}

function keyOf(pair: TreePair | undefined): string {
  return `${pair?.before}:${pair?.after}`
}

function* partsOf(pairs: readonly TreePair[]): Generator<readonly TreePair[]> {
  for (let at = 0; at < pairs.length; at += READS_MAX) yield pairs.slice(at, at + READS_MAX)
}

function folderOf(differences: Awaited<ReturnType<typeof differingEntries>>): Folder {
  const subfolders: { readonly pair: TreePair; readonly nameBytes: number }[] = []
  let nameBytes = 0
  for (const [one, other] of differences) {
    const length = (one ?? other)?.nameBytes.length ?? 0
    nameBytes += length
    const pair = { before: folderIdOf(one), after: folderIdOf(other) }
    if (pair.before !== undefined || pair.after !== undefined) {
      subfolders.push({ pair, nameBytes: length + 1 })
    }
  }
  return { paths: differences.length, nameBytes, subfolders }
}

function folderIdOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'directory' ? entry.id : undefined
}

const ENDLESS: Size = { paths: Number.POSITIVE_INFINITY, bytes: 0 }

function sizeOf(folders: ReadonlyMap<string, Folder>, pair: TreePair, depth: number): Size {
  const folder = folders.get(keyOf(pair))
  if (folder === undefined || depth > DEPTH_MAX) return ENDLESS
  if (folder.size !== undefined) return folder.size
  let { paths, nameBytes: bytes } = folder
  for (const { pair: inner, nameBytes } of folder.subfolders) {
    const size = sizeOf(folders, inner, depth + 1)
    paths += size.paths
    bytes += size.bytes + nameBytes * size.paths
  }
  folder.size = { paths, bytes }
  return folder.size
}
