/** The indexes of a repository: one for each architecture, which also lists `noarch` packages. */

import type { IndexEntry, IndexMaker } from '../index-maker.js'
import { rendered } from '../indexing/rendered.js'
import { indexArchive } from './index-archive.js'
import { indexRecord } from './index-record.js'
import { fileNameOf, type Repository } from './names.js'
import { makeSigningKey, signatureMember } from './signing-key.js'

export const NOARCH = 'noarch'

/** Architectures that have an index as soon as the repository has a `noarch` package. */
const ALPINE_ARCHITECTURES = [
  'aarch64',
  'armhf',
  'armv7',
  'loongarch64',
  'ppc64le',
  'riscv64',
  's390x',
  'x86',
  'x86_64',
]

/** Returns the subject under which the indexes of a repository are stored. */
export function subjectOf({ branch, repository }: Repository): string {
  return `${branch}/${repository}`
}

/** Returns the path of an architecture's index among the files of the subject. */
export function indexPath(architecture: string): string {
  return `${architecture}/APKINDEX.tar.gz`
}

/** Builds the indexes. Parts of the entries and names of the texts are architectures. */
export const INDEX_MAKER: IndexMaker = {
  revision: 1,
  makeSigningKey,
  formsOf: () => ['deflated'],
  render(entries, { parts }) {
    const all = parts.includes(NOARCH) ? [...parts, ...ALPINE_ARCHITECTURES] : parts
    const records = (architecture: string) =>
      entriesFor(entries, architecture).map((entry) => indexRecord(entry, architecture))
    return new Map([...new Set(all)].map((name) => [name, rendered(records(name))]))
  },
  async build({ texts, signingKeys }, output) {
    const keys = await signingKeys()
    for (const [architecture, text] of texts) {
      const index = indexArchive(text)
      const signatures = await signatureMember(keys, output.read(index))
      await output.write(indexPath(architecture), [signatures, ...index])
    }
  },
}

/**
 * Returns the entries of an architecture, and the `noarch` entries whose file name it does not
 * have itself, because `format.ts` prefers the file of the architecture.
 */
function entriesFor(entries: readonly IndexEntry[], architecture: string): readonly IndexEntry[] {
  const own = new Set(entries.filter(({ part }) => part === architecture).map(fileNameOf))
  return entries.filter(
    (entry) =>
      entry.part === architecture || (entry.part === NOARCH && !own.has(fileNameOf(entry))),
  )
}
