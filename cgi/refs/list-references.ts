/** Lists of the references of a repository, in git's order or newest first. */

import type { Git } from '../process/git.js'
import { fullId, gitRecords } from '../process/git-output.js'

/** A reference and the object that it points to. */
export interface Reference {
  /** Full name, such as `refs/heads/main`. */
  readonly name: string
  readonly id: string
  readonly type: string
}

/** Namespaces of references that clients can see. All others are internal. */
export const VISIBLE_REFERENCES = ['refs/heads', 'refs/tags', 'refs/pull/*/head'] as const

export interface ReferenceListInput {
  readonly namespaces: readonly (typeof VISIBLE_REFERENCES)[number][]
  /** Order; `name` by default. `newest` uses the date of an annotated tag, else of the commit. */
  readonly order?: 'name' | 'newest'
  readonly signal?: AbortSignal | undefined
}

/** Yields the references of the given namespaces as git lists them. */
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

/** A tag of a commit or of one of its ancestors. */
export interface MergedTag {
  /** Full name, such as `refs/tags/v1`. */
  readonly name: string
  /** True if the tag is of the commit itself. */
  readonly isOfCommit: boolean
}

/** Yields the tags of a commit and of its ancestors, by name. */
export async function* listMergedTags(
  git: Git,
  path: string,
  { commitId, signal }: { readonly commitId: string; readonly signal?: AbortSignal },
): AsyncGenerator<MergedTag> {
  const format = '--format=%(objectname) %(*objectname) %(refname)'
  const args = ['for-each-ref', format, `--merged=${fullId(commitId)}`, 'refs/tags']
  for await (const record of gitRecords(git, args, { cwd: path, separator: '\n', signal })) {
    const [id, peeledId, ...rest] = record.split(' ')
    yield { name: rest.join(' '), isOfCommit: (peeledId || id) === commitId }
  }
}
