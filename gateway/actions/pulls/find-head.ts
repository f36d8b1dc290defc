/** Head of a pull request or comparison, found by its name: a branch of a related repository. */

import { findRelatives } from '../../../sql/repositories/forks.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { findRepositoryFacts } from '../../../sql/repositories/repository-facts.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

export interface Head {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
  /** Name of the branch as given. The branch may not exist. */
  readonly branch: string
}

/** Returns the parent of a fork; undefined if there is none or the caller cannot see it. */
export async function findVisibleParent(
  { db }: Context,
  { repository, who }: Pick<Grants['repository'], 'repository' | 'who'>,
): Promise<Repository | undefined> {
  const { parentId } = (await findRepositoryFacts(db, [repository.id]))(repository.id)
  const found = parentId === undefined ? undefined : await findRepositoryById(db, parentId)
  if (found === undefined) return undefined
  return (await accessToLinked(db, who, found)).code === 'none' ? undefined : found
}

/**
 * Resolves `branch`, `owner:branch` or `owner/repo:branch` to a repository and a branch name. The
 * repository is this one or another of its fork network; undefined if there is none that the caller
 * can read.
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
    if ((await accessToLinked(db, who, found)).code !== 'none') return headOf(found, branch)
  }
  return undefined
}
