/** The record of one package in an APKINDEX (Alpine wiki, "Apk spec", "Index Format V2"). */

import type { IndexEntry } from '../index-maker.js'

/** Lines of a record in order, each with the default for packages that do not have the value. */
const LINES: ReadonlyArray<readonly [letter: string, missing?: string]> = [
  ...([['C'], ['P'], ['V'], ['A'], ['T'], ['U'], ['L'], ['S']] as const),
  ...([['I', '0'], ['o', ''], ['m', ''], ['t', '0'], ['c']] as const),
  ...([['D'], ['p'], ['i'], ['k'], ['r']] as const),
]

/**
 * Returns the record of a package in the index of an architecture. `A` is the architecture of the
 * index, because clients use it as the folder of the package's URL.
 */
export function indexRecord(
  { metadata, packageName, version, file }: IndexEntry,
  architecture: string,
): string {
  const values: Readonly<Record<string, unknown>> = {
    ...metadata,
    P: packageName,
    V: version,
    A: architecture,
    S: file.bytes,
  }
  const lines = LINES.flatMap(([letter, missing]) => {
    const value = values[letter] ?? missing
    return value === undefined ? [] : [`${letter}:${value}\n`]
  })
  return `${lines.join('')}\n`
}
