/** Walks over all repositories of a site, for jobs that examine each of them. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

const STORAGES_PER_QUERY = 1_000

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

/** Yields the storage key of every repository, for comparison with the directories on disk. */
export async function* allStorages(db: Database): AsyncIterable<string> {
  let last = 0
  for (;;) {
    const rows = await selectRows<{ id: number; storage: string }>(
      db,
      'select id, storage from repositories where id > ? order by id limit ?',
      [last, STORAGES_PER_QUERY],
    )
    if (rows.length === 0) return
    for (const row of rows) {
      yield row.storage
      last = row.id
    }
  }
}
