/** Data of repositories from other tables: topics, forks, stars and watchers. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

export interface RepositoryFacts {
  /** Topics, sorted. */
  readonly topics: readonly string[]
  /** Id of the parent; undefined if the repository is not a fork. */
  readonly parentId: number | undefined
  readonly forks: number
  readonly stars: number
  readonly watchers: number
  /** True if a transfer waits for the answer of the new owner. */
  readonly isOffered: boolean
}

const NO_FACTS: RepositoryFacts = {
  topics: [],
  parentId: undefined,
  forks: 0,
  stars: 0,
  watchers: 0,
  isOffered: false,
}

/** Returns a function from a repository's id to its facts. Runs one query for all ids. */
export async function findRepositoryFacts(
  db: Database,
  repositoryIds: readonly number[],
): Promise<(repositoryId: number) => RepositoryFacts> {
  const facts = new Map<number, RepositoryFacts>()
  const of = (id: number) => facts.get(id) ?? NO_FACTS
  if (repositoryIds.length === 0) return of
  const places = `(${repositoryIds.map(() => '?').join()})`
  const rows = await selectRows<FactRow>(
    db,
    `select l.repository_id as id, p.name as topic, null as parent_id,
      0 as forks, 0 as stars, 0 as watchers, 0 as offers
      from repository_topics l join topics p on p.id = l.topic_id where l.repository_id in ${places}
    union all select repository_id, null, parent_id, 0, 0, 0, 0
      from repository_forks where repository_id in ${places}
    union all select parent_id, null, null, count(*), 0, 0, 0
      from repository_forks where parent_id in ${places} group by parent_id
    union all select repository_id, null, null, 0, count(*), 0, 0
      from repository_stars where repository_id in ${places} group by repository_id
    union all select repository_id, null, null, 0, 0, count(*), 0
      from repository_watches where repository_id in ${places} group by repository_id
    union all select repository_id, null, null, 0, 0, 0, 1
      from repository_transfers where repository_id in ${places}`,
    Array.from({ length: 6 }, () => repositoryIds).flat(),
  )
  for (const row of rows) {
    const known = of(row.id)
    facts.set(row.id, {
      topics: row.topic === null ? known.topics : [...known.topics, row.topic].sort(),
      parentId: row.parent_id ?? known.parentId,
      forks: known.forks + row.forks,
      stars: known.stars + row.stars,
      watchers: known.watchers + row.watchers,
      isOffered: known.isOffered || row.offers > 0,
    })
  }
  return of
}

interface FactRow extends Pick<RepositoryFacts, 'forks' | 'stars' | 'watchers'> {
  readonly id: number
  readonly topic: string | null
  readonly parent_id: number | null
  readonly offers: number
}
