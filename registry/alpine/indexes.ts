/** The indexes of a repository: one for each architecture, with what runs on all of them. */

import type { IndexEntry, IndexMaker } from '../index-maker.js'
import { rendered } from '../indexing/rendered.js'
import { indexArchive } from './index-archive.js'
import { indexRecord } from './index-record.js'
import { fileNameOf, type Repository } from './names.js'
import { makeSigningKey, signatureMember } from './signing-key.js'

export const NOARCH = 'noarch'

/** Who asks for these finds an index as soon as there is a package for all architectures. */
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

/** By which the house knows the indexes of a repository. */
export function subjectOf({ branch, repository }: Repository): string {
  return `${branch}/${repository}`
}

/** Where the index of an architecture is in them. */
export function indexPath(architecture: string): string {
  return `${architecture}/APKINDEX.tar.gz`
}

/** Makes them. The parts of their entries are architectures, and so are the names of the texts. */
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

/** A file of the architecture's own is served before one for all, so that alone is listed. */
function entriesFor(entries: readonly IndexEntry[], architecture: string): readonly IndexEntry[] {
  const own = new Set(entries.filter(({ part }) => part === architecture).map(fileNameOf))
  return entries.filter(
    (entry) =>
      entry.part === architecture || (entry.part === NOARCH && !own.has(fileNameOf(entry))),
  )
}
