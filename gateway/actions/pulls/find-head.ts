/** Which branch, of which repository, somebody calls the head of a pull request. */

import { findRelatives } from '../../../sql/repositories/forks.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { findRepositoryFacts } from '../../../sql/repositories/repository-facts.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

export interface Head {
  readonly repository: Repository
  /** The folder of the repository. */
  readonly path: string
  /** As it was named: nobody has looked for it yet. */
  readonly branch: string
}

/** What the repository was forked from, where the caller may see that. */
export async function findVisibleParent(
  { db }: Context,
  { repository, who }: Pick<Grants['repository'], 'repository' | 'who'>,
): Promise<Repository | undefined> {
  const { parentId } = (await findRepositoryFacts(db, [repository.id]))(repository.id)
  const found = parentId === undefined ? undefined : await findRepositoryById(db, parentId)
  if (found === undefined) return undefined
  return (await accessToLinked(db, who, found)) === 'none' ? undefined : found
}

/**
 * What `branch`, `owner:branch` or `owner/repo:branch` means to the caller: a branch of this
 * repository, or of one that comes from where this one comes from. Undefined for all others, and
 * for what the caller may not read.
 */
export async function findHead(
  { db, settings }: Context,
  { repository, who }: Pick<Grants['repository'], 'repository' | 'who'>,
  text: string,
): Promise<Head | undefined> {
  const headOf = (found: Repository, branch: string): Head => ({
    repository: found,
    branch,
    path: repositoryPathOf({ settings }, found),
  })
  const [first = '', branch, ...more] = text.split(':')
  if (branch === undefined) return headOf(repository, first)
  const [owner = '', name, ...rest] = first.split('/')
  if (more.length > 0 || rest.length > 0) return undefined
  const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
  const isHere = isSame(owner, repository.owner.name) && isSame(name ?? '', repository.name)
  if (isHere || (name === undefined && isSame(owner, repository.owner.name))) {
    return headOf(repository, branch)
  }
  for (const found of await findRelatives(db, repository, { owner, name })) {
    if ((await accessToLinked(db, who, found)) !== 'none') return headOf(found, branch)
  }
  return undefined
}
