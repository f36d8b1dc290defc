/** Paths that are the same file where a file system does not tell capitals from small letters. */

import { Failure } from '../../conf/failures.js'
import { quote, treeKey } from '../archive/zip-paths.js'

/**
 * Throws `bad_request` when two of these paths, or of the folders on their way, differ by the case
 * of letters alone.
 */
export function checkFolding(paths: readonly string[]): void {
  const folded = paths.map((path) => ({ path, folded: treeKey(foldCase(path)) }))
  folded.sort((a, b) => (a.folded < b.folded ? -1 : 1))
  for (const [at, one] of folded.entries()) {
    const next = folded[at + 1]
    if (next === undefined) return
    const end = sharedEnd(one.folded, next.folded)
    if (one.path.slice(0, end) !== next.path.slice(0, end)) {
      const names = [one, next].map(({ path }) => quote(path.slice(0, end))).join(' and ')
      throw new Failure('bad_request', `The module has both ${names}: they differ by case alone.`)
    }
  }
}

/** Both begin with the same elements up to here. */
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

/** As long as it was: one character for one (Unicode's simple case folding). */
function foldCase(path: string): string {
  if (/^[\0-\x7f]*$/.test(path)) return path.toLowerCase()
  return Array.from(path, foldCharacter).join('')
}

function foldCharacter(character: string): string {
  const folded = character.toUpperCase().toLowerCase()
  return folded.length === character.length ? folded : character
}
