/** Deletion of a repository with its folder and that of its wiki. */

import { rm } from 'node:fs/promises'
import { trashRepository } from '../../../cgi/repository/repository.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { isHeld } from '../../../sql/admin/holds.js'
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

/**
 * Removes the Git data of a repository and of its wiki, after the row. During a backup the sweeper
 * does so later, because the copy of the database may have the row.
 */
export async function removeFolders(
  context: Pick<Context, 'db' | 'settings'>,
  repository: Repository,
): Promise<void> {
  for (const each of [repository, wikiOf(repository)]) {
    const trash = await trashRepository(repositoryPathOf(context, each))
    if (trash === undefined || (await isHeld(context.db))) continue
    await rm(trash, { recursive: true, force: true, maxRetries: 3 })
  }
}
