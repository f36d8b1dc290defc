/** Deletion of a repository with its folder. */

import { removeRepository } from '../../../cgi/repository/repository.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { emit } from '../webhooks/events.js'
import { repositoryEvent, type Scene } from '../webhooks/house-events.js'

/** What is known of it goes first: nothing names a folder that is gone. */
export async function deleteWholeRepository(context: Context, scene: Scene): Promise<void> {
  const { repository } = scene
  const event = await repositoryEvent(context, { ...scene, action: 'deleted' })
  await deleteRepository(context.db, repository.id)
  await removeRepository(repositoryPathOf(context, repository))
  await emit(context, event)
}
