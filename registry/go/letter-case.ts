/** Detection of paths that are the same file on a case-insensitive file system. */

import { Failure } from '../../conf/failures.js'
import { quote, treeKey } from '../archive/zip-paths.js'

/** Throws `bad_request` if two of these paths, or of their parent folders, differ only in case. */
export function checkFolding(paths: readonly string[]): void {
  const folded = paths.map((path) => ({ path, folded: treeKey(foldCase(path)) }))
  folded.sort((a, b) => (a.folded < b.folded ? -1 : 1))
  for (const [at, one] of folded.entries()) {
    const next = folded[at + 1]
    if (next === undefined) return
    const end = sharedEnd(one.folded, next.folded)
    if (one.path.slice(0, end) !== next.path.slice(0, end)) {
      const names = [one, next].map(({ path }) => quote(path.slice(0, end))).join(' and ')
      const problem = 'which differ only in case: rename one of them'
      throw new Failure('bad_request', `The module has both ${names}, ${problem}.`)
    }
  }
}

/** Returns the length of the longest common prefix that consists of whole path elements. */
function sharedEnd(one: string, other: string): number {
  let at = 0
  let end = 0
  while (at <= one.length && at <= other.length) {
    const [a, b] = [one[at] ?? '\0', other[at] ?? '\0']
    if (a !== b) break
    if (a === '\0') end = at
    at += 1
  }
  return end
}

/** Returns the path in one case and of the same length (Unicode's simple case folding). */
export function foldCase(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase()
  return Array.from(path, foldCharacter).join('')
}

function foldCharacter(character: string): string {
  const folded = character.toUpperCase().toLowerCase()
  return folded.length === character.length ? folded : character
}
