/** Head repository of a pull request, for callers who can see it or write to it. */

import { repositoryPath } from '../../../cgi/repository/paths.js'
import type { Pull } from '../../../sql/pulls/pulls.js'
import { accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { isForeign } from './foreign-heads.js'

/** Returns the head repository; undefined if it was deleted or the caller cannot see it. */
export async function findVisibleHead(
  { db }: Context,
  { who, repository }: Pick<Grants['repository'], 'who' | 'repository'>,
  pull: Pull,
): Promise<Repository | undefined> {
  if (!isForeign({ pull })) return repository
  const found = await findRepositoryById(db, pull.headRepositoryId ?? 0)
  if (found === undefined) return undefined
  return (await accessToLinked(db, who, found)).code === 'none' ? undefined : found
}

export interface WritableHead {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
}

/**
 * Returns the head repository; undefined if the caller cannot write to it, or if it is another one
 * than the base and was deleted or archived, or is a mirror.
 */
export async function findWritableHead(
  { db, settings }: Context,
  grant: Pick<Grants['repository'], 'who' | 'repository' | 'modes'>,
  pull: Pull,
): Promise<WritableHead | undefined> {
  const { dir } = settings.data
  const headOf = (repository: Repository): WritableHead => ({
    repository,
    path: repositoryPath(dir, repository.storage),
  })
  if (!isForeign({ pull }))
    return atLeast(grant.modes.code, 'write') ? headOf(grant.repository) : undefined
  const found = await findRepositoryById(db, pull.headRepositoryId ?? 0)
  if (found === undefined || found.isArchived || found.source?.mirror !== undefined)
    return undefined
  const { code } = await accessToLinked(db, grant.who, found)
  return atLeast(code, 'write') ? headOf(found) : undefined
}

/** Returns `branch`, or `owner/repo:branch` if the head is in another, public repository. */
export async function headName({ db }: Context, pull: Pull): Promise<string> {
  if (!isForeign({ pull })) return pull.headBranch
  const found = await findRepositoryById(db, pull.headRepositoryId ?? 0)
  if (found === undefined) return pull.headBranch
  if ((await accessToRepository(db, undefined, found)).code === 'none') return pull.headBranch
  return `${found.owner.name}/${found.name}:${pull.headBranch}`
}
