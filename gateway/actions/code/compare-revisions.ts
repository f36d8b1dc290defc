/** Comparison of two revisions, in one repository or between a repository and a related one. */

import { withObjects } from '../../../cgi/objects/with-objects.js'
import { withTemporaryRepository } from '../../../cgi/repository/temporary-repository.js'
import { notFound } from '../../../conf/failures.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { findHead, type Head } from '../pulls/find-head.js'
import { type Caller, inQueue } from './git-queue.js'
import { type GitReader, type RepositoryGrant, readGit, revisionOf } from './git-reader.js'

/** Two revisions by name, with their commits. The reader can read both. */
export interface Comparison {
  readonly reader: GitReader
  /** Name of the base as given; empty for the default branch. */
  readonly base: string
  readonly head: Head
  readonly baseCommit: string
  readonly headCommit: string
}

/**
 * Runs `use` with the revisions of `base...head` or `base..head`, in a slot of the git process
 * queue. A single name is compared with the default branch. Throws `not_found` if a revision is
 * missing or the caller cannot see it.
 */
export async function withComparison<T>(
  context: Context,
  caller: Caller,
  text: string,
  use: (comparison: Comparison) => Promise<T>,
): Promise<T> {
  const { grant } = caller
  const { base, head: name } = splitBaseHead(grant, text)
  const head = await findHead(context, grant, name)
  if (head === undefined) throw notFound()
  const isHere = head.repository.id === grant.repository.id
  const names = { base, head }
  return await inQueue(context, caller, () =>
    isHere ? compareHere(context, grant, names, use) : compareWith(context, grant, names, use),
  )
}

type Names = Pick<Comparison, 'base' | 'head'>
type Use<T> = (comparison: Comparison) => Promise<T>

function compareHere<T>(
  context: Context,
  grant: RepositoryGrant,
  names: Names,
  use: Use<T>,
): Promise<T> {
  return readGit(context, grant, async (reader) => {
    const { commitId: baseCommit } = await revisionOf(reader, grant, names.base)
    const { commitId: headCommit } = await revisionOf(reader, grant, names.head.branch)
    return await use({ ...names, reader, baseCommit, headCommit })
  })
}

/**
 * Compares revisions of two repositories. Each name is resolved in its own repository; both
 * histories are then read through a temporary repository.
 */
async function compareWith<T>(
  context: Context,
  grant: RepositoryGrant,
  names: Names,
  use: Use<T>,
): Promise<T> {
  const { git } = context
  const { base, head } = names
  const idOf = (place: RepositoryGrant, name: string) =>
    readGit(context, place, async (reader) => (await revisionOf(reader, place, name)).commitId)
  const baseCommit = await idOf(grant, base)
  const headCommit = await idOf({ ...grant, repository: head.repository }, head.branch)
  const compareOn = (path: string) =>
    withObjects(git, path, (objects) =>
      use({ ...names, reader: { git, path, objects }, baseCommit, headCommit }),
    )
  return await withTemporaryRepository(repositoryPathOf(context, grant.repository), compareOn, [
    head.path,
  ])
}

/** Splits `base...head`; the base of a single name is empty. Throws `not_found` if malformed. */
export function splitBaseHead(
  grant: RepositoryGrant,
  text: string,
): { readonly base: string; readonly head: string } {
  // A ref name contains no two consecutive dots (git-check-ref-format(1)).
  const [base = '', head, ...more] = text.split(/\.{2,3}/)
  if (more.length > 0 || text === '') throw notFound()
  if (head === undefined) return { base: '', head: base }
  return { base: withoutOwner(grant, base), head }
}

/** Removes the owner from `owner:branch`. Throws `not_found` if it does not own the repository. */
function withoutOwner({ repository }: RepositoryGrant, text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const { owner } = repository
  if (text.slice(0, colon).toLowerCase() !== owner.name.toLowerCase()) throw notFound()
  return text.slice(colon + 1)
}
