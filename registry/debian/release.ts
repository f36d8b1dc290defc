/** The Release file of a distribution: its metadata and the checksums of its index files. */

import type { Digests } from '../../conf/package.js'
import type { WrittenFile } from '../index-maker.js'

export interface Distribution {
  readonly name: string
  readonly changedAtMs: number
  /** `component/architecture` of each Packages file. */
  readonly parts: readonly string[]
  readonly files: readonly WrittenFile[]
}

/** Returns the text of the file ("Release" of the repository format). Deterministic. */
export function releaseText({ name, changedAtMs, parts, files }: Distribution): string {
  const sortedOf = (at: 0 | 1) =>
    [...new Set(parts.map((part) => part.split('/')[at] ?? ''))].sort().join(' ')
  const fields = [
    'Origin: Gatehouse',
    'Label: Gatehouse',
    `Suite: ${name}`,
    `Codename: ${name}`,
    `Components: ${sortedOf(0)}`,
    // If `all` is in this list, clients of every architecture request the Packages file of `all`.
    `Architectures: ${sortedOf(1)}`,
    `Date: ${new Date(changedAtMs).toUTCString().replace('GMT', 'UTC')}`,
    'Acquire-By-Hash: yes',
  ]
  const blocks = DIGESTS.flatMap(([title, digest]) => [
    `${title}:`,
    ...files.map(({ path, bytes, digests }) => ` ${digests[digest]} ${bytes} ${path}`),
  ])
  return `${[...fields, ...blocks].join('\n')}\n`
}

/**
 * Digests of the files. `Acquire-By-Hash` promises a file for each of them, which rules out MD5 and
 * SHA-1: they do not identify a file.
 */
const DIGESTS: ReadonlyArray<readonly [title: string, digest: keyof Digests]> = [
  ['SHA256', 'sha256'],
  ['SHA512', 'sha512'],
]
