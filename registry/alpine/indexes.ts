/** The indexes of a repository: one for each architecture, with what runs on all of them. */

import type { IndexEntry, IndexInput, IndexMaker } from '../format.js'
import { packIndex } from './index-archive.js'
import { indexRecord } from './index-record.js'
import { fileNameOf, type Repository } from './names.js'
import { makeSigningKey } from './signing-key.js'

export const NOARCH = 'noarch'

/** Who asks for these finds an index as soon as there is a package for all architectures. */
const ALPINE_ARCHITECTURES = [
  ...['aarch64', 'armhf', 'armv7', 'loongarch64', 'ppc64le'],
  ...['riscv64', 's390x', 'x86', 'x86_64'],
]

/** By which the house knows the indexes of a repository. */
export function subjectOf({ branch, repository }: Repository): string {
  return `${branch}/${repository}`
}

/** Where the index of an architecture is in them. */
export function indexPath(architecture: string): string {
  return `${architecture}/APKINDEX.tar.gz`
}

/** Makes them. The parts of their entries are architectures. */
export const INDEX_MAKER: IndexMaker = {
  makeSigningKey,
  async build(input, output) {
    const parts = await input.parts()
    if (parts.length === 0) return
    const hasNoarch = parts.includes(NOARCH)
    const all = hasNoarch ? [...parts, ...ALPINE_ARCHITECTURES] : parts
    const key = await input.signingKey()
    for (const architecture of [...new Set(all)].sort()) {
      const entries = entriesOf(input, { architecture, hasNoarch })
      const chunks = await packIndex(recordsOf(entries, architecture), key)
      await output.write(indexPath(architecture), Buffer.concat(chunks))
    }
  },
}

interface Asked {
  readonly architecture: string
  readonly hasNoarch: boolean
}

function entriesOf(
  input: IndexInput,
  { architecture, hasNoarch }: Asked,
): AsyncIterable<IndexEntry> {
  const own = input.entries(architecture)
  const isMixed = hasNoarch && architecture !== NOARCH
  return isMixed ? ownFirst(own, input.entries(NOARCH)) : own
}

/** A file of the architecture's own is served before one for all, so that alone is listed. */
async function* ownFirst(
  own: AsyncIterable<IndexEntry>,
  forAll: AsyncIterable<IndexEntry>,
): AsyncGenerator<IndexEntry> {
  const seen = new Set<string>()
  for await (const entry of own) {
    seen.add(fileNameOf(entry))
    yield entry
  }
  for await (const entry of forAll) {
    if (!seen.has(fileNameOf(entry))) yield entry
  }
}

async function* recordsOf(
  entries: AsyncIterable<IndexEntry>,
  architecture: string,
): AsyncGenerator<string> {
  for await (const entry of entries) yield indexRecord(entry, architecture)
}
