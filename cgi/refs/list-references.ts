/** The references of a repository by their names, in git's order or the newest first. */

import type { Git } from '../process/git.js'
import { gitRecords } from '../process/git-output.js'

/** A reference, and the object that it names. */
export interface Reference {
  /** `refs/heads/main` */
  readonly name: string
  readonly id: string
  readonly type: string
}

/** The references that a caller may know of; all others are the house's own. */
export const VISIBLE_REFERENCES = ['refs/heads', 'refs/tags', 'refs/pull/*/head'] as const

export interface ReferenceListInput {
  readonly namespaces: readonly (typeof VISIBLE_REFERENCES)[number][]
  /** By name unless said otherwise; tags are as old as their own date, or their commit's. */
  readonly order?: 'name' | 'newest'
  readonly signal?: AbortSignal | undefined
}

/** The references of those rooms, as git lists them. */
export async function* listReferences(
  git: Git,
  path: string,
  { namespaces, order = 'name', signal }: ReferenceListInput,
): AsyncGenerator<Reference> {
  const sorted = order === 'name' ? [] : ['--sort=-refname', '--sort=-creatordate']
  const format = '--format=%(objectname) %(objecttype) %(refname)'
  const args = ['for-each-ref', format, ...sorted, ...namespaces]
  for await (const record of gitRecords(git, args, { cwd: path, separator: '\n', signal })) {
    const [id = '', type = '', ...rest] = record.split(' ')
    yield { id, type, name: rest.join(' ') }
  }
}

/** A part of them, from the one at `offset` on, and how many there are in all. */
export async function pageOfReferences(
  git: Git,
  path: string,
  {
    offset,
    limit,
    ...input
  }: ReferenceListInput & { readonly offset: number; readonly limit: number },
): Promise<{ readonly entries: readonly Reference[]; readonly total: number }> {
  const entries: Reference[] = []
  let total = 0
  for await (const reference of listReferences(git, path, input)) {
    if (total >= offset && entries.length < limit) entries.push(reference)
    total += 1
  }
  return { entries, total }
}
