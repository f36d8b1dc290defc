/** What follows a push that ended well: upkeep is asked for, and the database told of it. */

import { repositorySizeKib } from '../../cgi/repository.js'
import { type Repository, updateRepository } from '../../sql/repositories.js'
import type { Context } from '../context.js'

/** The client has its answer; what the database says of the repository at `path` follows. */
export async function notePush(
  context: Context,
  repository: Repository,
  path: string,
): Promise<void> {
  await context.upkeep.pushWasTaken(repository.id)
  const sizeKib = await repositorySizeKib(path)
  await updateRepository(context.db, repository.id, { sizeKib, pushedAtMs: Date.now() })
}
