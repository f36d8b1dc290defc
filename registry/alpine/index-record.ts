/** What an APKINDEX says of one package. */

import type { IndexEntry } from '../index-maker.js'

/** Its lines in their order, each with what stands there where the package does not say it. */
const LINES: ReadonlyArray<readonly [letter: string, missing?: string]> = [
  ...([['C'], ['P'], ['V'], ['A'], ['T'], ['U'], ['L'], ['S']] as const),
  ...([['I', '0'], ['o', ''], ['m', ''], ['t', '0'], ['c']] as const),
  ...([['D'], ['p'], ['i'], ['k'], ['r']] as const),
]

/**
 * The record of a package in the index of an architecture. That of the index, and not that of the
 * package, tells clients in which folder it is.
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
