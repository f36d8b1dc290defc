/** The Release file of a distribution: its metadata and the checksums of its index files. */

import type { Digests } from '../../conf/package.js'
import type { WrittenFile } from '../index-maker.js'
import { SOURCE } from './packages-index.js'

export interface Distribution {
  readonly name: string
  readonly changedAtMs: number
  /** Time for which clients accept the file; undefined for no limit. */
  readonly validMs: number | undefined
  /** `component/architecture` of each Packages file. */
  readonly parts: readonly string[]
  readonly files: readonly WrittenFile[]
}

/** Returns the text of the file ("Release" of the repository format). Deterministic. */
export function releaseText({ name, changedAtMs, validMs, parts, files }: Distribution): string {
  const sortedOf = (at: 0 | 1) =>
    [...new Set(parts.map((part) => part.split('/')[at] ?? ''))]
      .filter((name) => at === 0 || name !== SOURCE)
      .sort()
      .join(' ')
  const fields = [
    'Origin: Gatehouse',
    'Label: Gatehouse',
    `Suite: ${name}`,
    `Codename: ${name}`,
    `Components: ${sortedOf(0)}`,
    // If `all` is in this list, clients of every architecture request the Packages file of `all`.
    `Architectures: ${sortedOf(1)}`.trimEnd(),
    `Date: ${dateOf(changedAtMs)}`,
    ...(validMs === undefined ? [] : [`Valid-Until: ${dateOf(changedAtMs + validMs)}`]),
    'Acquire-By-Hash: yes',
  ]
  const blocks = DIGESTS.flatMap(([title, digest]) => [
    `${title}:`,
    ...files.map(({ path, bytes, digests }) => ` ${digests[digest]} ${bytes} ${path}`),
  ])
  return `${[...fields, ...blocks].join('\n')}\n`
}

function dateOf(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', 'UTC')
}

/**
 * Digests of the files. `Acquire-By-Hash` promises a file for each of them, which rules out MD5 and
 * SHA-1: they do not identify a file.
 */
const DIGESTS: ReadonlyArray<readonly [title: string, digest: keyof Digests]> = [
  ['SHA256', 'sha256'],
  ['SHA512', 'sha512'],
]
