/** Effects of a successful push: maintenance, pull requests, and the repository's row. */

import { repositorySizeKib } from '../../../cgi/repository/repository.js'
import { isFailure } from '../../../conf/failures.js'
import { type Repository, updateRepository } from '../../../sql/repositories/repositories.js'
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
  await context.upkeep.enqueueMaintenance(repository.id)
  // Not awaited: it may wait in the queue of git processes, in which the caller may hold a slot.
  followHeads(context, repository).catch((error: unknown) =>
    context.log.warn({ error, path }, 'pull requests were not updated after a push'),
  )
  prepareAnswers(context, repository, path)
  const sizeKib = await repositorySizeKib(path)
  await updateRepository(context.db, repository.id, { sizeKib, pushedAtMs: Date.now() })
}

/** Starts to make the answers that a fleet of clients will request. */
function prepareAnswers({ packCache, log }: Context, { sizeKib }: Repository, path: string): void {
  const repositoryBytes = sizeKib * 1_024
  const request = { signal: new AbortController().signal }
  packCache
    .prepare({ repositoryPath: path, repositoryBytes, client: () => PREPARER, request })
    .catch((error: unknown) => {
      const isBusy = isFailure(error, 'throttled') || isFailure(error, 'unavailable')
      if (!isBusy) log.warn({ error, path }, 'answers were not made in advance')
    })
}

/** Client of the git processes that no request has started; see `auth/client`. */
const PREPARER = 'prepared answers'
