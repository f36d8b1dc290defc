/** After a push: pull requests into other repositories whose heads are here follow it. */

import { listPullsFrom } from '../../../sql/pulls/pull-lists.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { refreshPulls } from './refresh-pulls.js'

/** Those that this misses follow when they are next read. */
export async function followHeads(context: Context, { id }: Pick<Repository, 'id'>): Promise<void> {
  const entries = await listPullsFrom(context.db, id)
  const bases = new Set(entries.map(({ pull }) => pull.repositoryId))
  for (const base of await findRepositoriesById(context.db, [...bases])) {
    const mine = entries.filter(({ pull }) => pull.repositoryId === base.id)
    await refreshPulls(context, base, mine)
  }
}
