/** Deletion of a repository with its folder and that of its wiki. */

import { removeRepository } from '../../../cgi/repository/repository.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { deleteRepository, type Repository } from '../../../sql/repositories/repositories.js'
import { wikiOf } from '../../../sql/repositories/wikis.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

export interface RepositoryDeletion {
  readonly repository: Repository
  readonly actor: Owner
}

/** Deletes the rows before the folder, so that no row refers to a missing folder. */
export async function deleteWholeRepository(
  context: Context,
  deletion: RepositoryDeletion,
): Promise<void> {
  const { repository } = deletion
  const publish = await context.events.prepare({ kind: 'repository_deleted', ...deletion })
  await deleteRepository(context.db, repository.id)
  await removeFolders(context, repository)
  await publish()
}

/** Removes the Git data of a repository and of its wiki. */
export async function removeFolders(
  context: Pick<Context, 'settings'>,
  repository: Repository,
): Promise<void> {
  for (const each of [repository, wikiOf(repository)]) {
    await removeRepository(repositoryPathOf(context, each))
  }
}
