/** What is left of two folders when the entries that both have are passed over, byte by byte. */

import { entryAt, type TreeBytes, type TreeEntry } from './tree.js'

/**
 * The entries of each that do not stand in the other alike. Commits leave nearly all of a folder as
 * it was, and to make values of these would cost most of a comparison. Of trees that are not in
 * git's order some that both have may be left.
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

/** Bytes of the whole entries that both begin with from there on. */
function sharedLength(one: TreeBytes, from: number, other: TreeBytes, otherFrom: number): number {
  const { content: mine, idBytes } = one
  const theirs = other.content
  const most = Math.min(mine.length - from, theirs.length - otherFrom)
  let whole = 0
  let at = 0
  // An entry: its mode, a space, its name, NUL and its id, in which any byte may stand.
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

/** git's order: by bytes, a folder as though its name ended with a slash; nothing comes last. */
function compareEntries(one: TreeEntry | undefined, other: TreeEntry | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one ? -1 : 1
  return Buffer.compare(sortedName(one), sortedName(other))
}

function sortedName({ kind, nameBytes }: TreeEntry): Buffer {
  return kind === 'directory' ? Buffer.concat([nameBytes, Buffer.from('/')]) : nameBytes
}
