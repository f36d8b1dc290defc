/** Refresh of pull requests after a push to their head repository. */

import { listPullsFrom } from '../../../sql/pulls/pull-lists.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { refreshPulls } from './refresh-pulls.js'

/**
 * Refreshes the open pull requests whose head is in this repository and whose base is in another.
 * Pull requests that are missed are refreshed when they are next read.
 */
export async function followHeads(context: Context, { id }: Pick<Repository, 'id'>): Promise<void> {
  const entries = await listPullsFrom(context.db, id)
  const bases = new Set(entries.map(({ pull }) => pull.repositoryId))
  for (const base of await findRepositoriesById(context.db, [...bases])) {
    const mine = entries.filter(({ pull }) => pull.repositoryId === base.id)
    await refreshPulls(context, base, mine)
  }
}
