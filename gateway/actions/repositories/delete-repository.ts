/** Deletion of a repository with its folder. */

import { removeRepository } from '../../../cgi/repository/repository.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { deleteRepository, type Repository } from '../../../sql/repositories/repositories.js'
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
  await removeRepository(repositoryPathOf(context, repository))
  await publish()
}
