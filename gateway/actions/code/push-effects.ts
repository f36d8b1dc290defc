/** Effects of a successful push: maintenance, pull requests, and the repository's row. */

import { repositorySizeKib } from '../../../cgi/repository/repository.js'
import { type Repository, recordPush } from '../../../sql/repositories/repositories.js'
import { recordSize } from '../../../sql/repositories/wikis.js'
import type { Context } from '../../request/context.js'
import { followHeads } from '../pulls/follow-heads.js'

/**
 * Requests maintenance, starts the refresh of pull requests in other repositories, makes answers to
 * fetches in advance, and sets the size and the time of the last push in the database.
 */
export async function applyPushEffects(
  context: Context,
  repository: Repository,
  path: string,
): Promise<void> {
  await context.upkeep.enqueueMaintenance(repository)
  // Not awaited: it may wait in the queue of git processes, in which the caller may hold a slot.
  if (!repository.isWiki) {
    followHeads(context, repository).catch((error: unknown) =>
      context.log.warn({ error, path }, 'pull requests were not updated after a push'),
    )
  }
  context.packCache.notePush({
    repositoryPath: path,
    repositoryBytes: repository.sizeKib * 1_024,
  })
  const sizeKib = await repositorySizeKib(path)
  if (repository.isWiki) return await recordSize(context.db, repository, sizeKib)
  await recordPush(context.db, repository.id, { sizeKib, pushedAtMs: Date.now() })
}
