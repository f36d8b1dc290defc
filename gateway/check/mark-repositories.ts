/** Renewal of the markers of many repositories, for the daily job and for restored sites. */

import type { Database } from '../../sql/database/database.js'
import { listAllRepositories } from '../../sql/repositories/all-repositories.js'
import { renewMarkers } from '../request/repository-markers.js'

export interface MarkOptions {
  readonly db: Database
  readonly dataDir: string
  /** Owner of the repositories; by default all repositories are marked. */
  readonly ownerId?: number | undefined
  readonly signal?: AbortSignal
}

/** Number of repositories that are read with one query. */
const PAGE = 200

/** Writes each marker that is missing or wrong, one after the other. */
export async function markRepositories(options: MarkOptions): Promise<void> {
  const { db, dataDir, ownerId, signal } = options
  for (let afterId = 0; ; ) {
    const page = await listAllRepositories(db, { afterId, limit: PAGE, ownerId })
    for (const repository of page) {
      signal?.throwIfAborted()
      await renewMarkers(dataDir, repository)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    afterId = last.id
  }
}
