/** Walks over all repositories of a site, for jobs that examine each of them. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'
import { type Repository, selectRepositories } from './repositories.js'

/**
 * Returns the ids of one of `count` parts of all repositories: those with id modulo `count` equal
 * to `part`.
 */
export async function listRepositoryPart(
  db: Database,
  { part, count }: { readonly part: number; readonly count: number },
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    'select id from repositories where id % ? = ? order by id',
    [count, part],
  )
  return rows.map(({ id }) => id)
}

/** Part of the repositories of a site or an owner. */
export interface RepositoriesPage extends RowPage {
  readonly ownerId?: number | undefined
}

/** Returns up to `limit` repositories with ids above `afterId`, ordered by id. */
export async function listAllRepositories(
  db: Database,
  { afterId, limit, ownerId }: RepositoriesPage,
): Promise<readonly Repository[]> {
  if (ownerId !== undefined) {
    const part = 'where r.owner_id = ? and r.id > ? order by r.id limit ?'
    return await selectRepositories(db, part, [ownerId, afterId, limit])
  }
  return await selectRepositories(db, 'where r.id > ? order by r.id limit ?', [afterId, limit])
}

const KEYS_PER_QUERY = 500

/** Returns the storage keys among `storages` that belong to a repository. */
export async function knownStorages(
  db: Database,
  storages: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for (let start = 0; start < storages.length; start += KEYS_PER_QUERY) {
    const keys = storages.slice(start, start + KEYS_PER_QUERY)
    const rows = await selectRows<{ storage: string }>(
      db,
      `select storage from repositories where storage in (${keys.map(() => '?').join()})`,
      keys,
    )
    for (const { storage } of rows) known.add(storage)
  }
  return known
}
