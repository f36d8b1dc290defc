/** Fast comparison of two trees, which skips identical bytes without parsing them. */

import { entryAt, type TreeBytes, type TreeEntry } from './tree.js'

/**
 * Returns the entries of each tree that are not identical in the other one. Most commits leave
 * nearly all entries of a folder unchanged, and parsing these would be most of the cost. If a tree
 * is not in git's order, some shared entries may be returned too.
 */
export function unsharedEntries(
  one: TreeBytes,
  other: TreeBytes,
): readonly [TreeEntry[], TreeEntry[]] {
  const left: [TreeEntry[], TreeEntry[]] = [[], []]
  let [at, otherAt] = [0, 0]
  for (;;) {
    const shared = sharedLength(one, at, other, otherAt)
    at += shared
    otherAt += shared
    const [mine, theirs] = [entryAt(one, at), entryAt(other, otherAt)]
    if (mine === undefined && theirs === undefined) return left
    const order = compareEntries(mine?.entry, theirs?.entry)
    if (mine !== undefined && order <= 0) {
      left[0].push(mine.entry)
      at = mine.end
    }
    if (theirs !== undefined && order >= 0) {
      left[1].push(theirs.entry)
      otherAt = theirs.end
    }
  }
}

const SPACE = 0x20

/** Returns the length of the complete entries that are identical from the two offsets on. */
function sharedLength(one: TreeBytes, from: number, other: TreeBytes, otherFrom: number): number {
  const { content: mine, idBytes } = one
  const theirs = other.content
  const most = Math.min(mine.length - from, theirs.length - otherFrom)
  let whole = 0
  let at = 0
  // An entry is its mode, a space, its name, NUL and its id, which may contain any byte.
  let isInName = false
  for (; at < most && mine[from + at] === theirs[otherFrom + at]; at += 1) {
    const byte = mine[from + at]
    if (byte === SPACE) isInName = true
    if (byte !== 0 || !isInName) continue
    const end = at + 1 + idBytes
    if (end > most) return whole
    while (at + 1 < end && mine[from + at + 1] === theirs[otherFrom + at + 1]) at += 1
    if (at + 1 < end) return whole
    whole = end
    isInName = false
  }
  return whole
}

/** Compares in git's order: by bytes, with a slash after a folder's name; undefined is last. */
function compareEntries(one: TreeEntry | undefined, other: TreeEntry | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one ? -1 : 1
  return Buffer.compare(sortedName(one), sortedName(other))
}

function sortedName({ kind, nameBytes }: TreeEntry): Buffer {
  return kind === 'directory' ? Buffer.concat([nameBytes, Buffer.from('/')]) : nameBytes
}
