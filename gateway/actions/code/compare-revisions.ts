/** What one revision has beyond another, of the same repository or of one that is related to it. */

import { withObjects } from '../../../cgi/objects/objects.js'
import { withTemporaryRepository } from '../../../cgi/repository/temporary-repository.js'
import { notFound } from '../../../conf/failures.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { findHead, type Head } from '../pulls/find-head.js'
import { type Caller, inQueue } from './git-queue.js'
import { type GitReader, type RepositoryGrant, readGit, revisionOf } from './git-reader.js'

/** Two revisions by name, and their commits, which the reader has both. */
export interface Comparison {
  readonly reader: GitReader
  /** As it was named; empty for the default branch. */
  readonly base: string
  readonly head: Head
  readonly baseCommit: string
  readonly headCommit: string
}

/**
 * Lets `use` look at the two revisions that `base...head` or `base..head` names, in a place of the
 * queue; of one name alone it is compared with the default branch. Throws `not_found` for what is
 * not there, or not to be seen.
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

/** Names mean what they mean in their own repository; the histories are read side by side. */
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

/** Which names the text has; no base for the default branch. Throws `not_found`. */
export function splitBaseHead(
  grant: RepositoryGrant,
  text: string,
): { readonly base: string; readonly head: string } {
  // No name of a reference holds two dots.
  const [base = '', head, ...more] = text.split(/\.{2,3}/)
  if (more.length > 0 || text === '') throw notFound()
  if (head === undefined) return { base: '', head: base }
  return { base: withoutOwner(grant, base), head }
}

/** The base is of this repository, whose owner may be told. */
function withoutOwner({ repository }: RepositoryGrant, text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const { owner } = repository
  if (text.slice(0, colon).toLowerCase() !== owner.name.toLowerCase()) throw notFound()
  return text.slice(colon + 1)
}
