/** What follows a push that ended well: upkeep is asked for, and the database told of it. */

import { repositorySizeKib } from '../../../cgi/repository/repository.js'
import { type Repository, updateRepository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { followHeads } from '../pulls/follow-heads.js'

/** The client has its answer; what the database says of the repository at `path` follows. */
export async function journalPush(
  context: Context,
  repository: Repository,
  path: string,
): Promise<void> {
  await context.upkeep.enqueueMaintenance(repository.id)
  // Not waited for: it may stand in the queue of git processes, where who calls has a place.
  followHeads(context, repository).catch((error: unknown) =>
    context.log.warn({ error, path }, 'pull requests will follow their heads when they are read'),
  )
  const sizeKib = await repositorySizeKib(path)
  await updateRepository(context.db, repository.id, { sizeKib, pushedAtMs: Date.now() })
}
