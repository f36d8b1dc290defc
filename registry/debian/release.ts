/** What a distribution says of itself and of the lists of its packages: the file Release. */

import type { Digests } from '../../conf/package.js'
import type { WrittenFile } from '../index-maker.js'

export interface Distribution {
  readonly name: string
  readonly changedAtMs: number
  /** `component/architecture` of each list. */
  readonly parts: readonly string[]
  readonly files: readonly WrittenFile[]
}

/** The text, which is a function of what it is given ("Release" of the repository format). */
export function releaseText({ name, changedAtMs, parts, files }: Distribution): string {
  const sortedOf = (at: 0 | 1) =>
    [...new Set(parts.map((part) => part.split('/')[at] ?? ''))].sort().join(' ')
  const fields = [
    'Origin: Gatehouse',
    'Label: Gatehouse',
    `Suite: ${name}`,
    `Codename: ${name}`,
    `Components: ${sortedOf(0)}`,
    // Clients ask for the packages of `all` where it stands here, whatever they are themselves.
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

/** The weak ones are for old mirrors; apt takes the strongest that it is offered. */
const DIGESTS: ReadonlyArray<readonly [title: string, digest: keyof Digests]> = [
  ['MD5Sum', 'md5'],
  ['SHA1', 'sha1'],
  ['SHA256', 'sha256'],
  ['SHA512', 'sha512'],
]
