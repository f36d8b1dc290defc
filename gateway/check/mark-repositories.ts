/** Renewal of the markers of many repositories, for the daily job and for restored sites. */

import type { Database } from '../../sql/database/database.js'
import { pagesOf } from '../../sql/database/page.js'
import { listAllRepositories } from '../../sql/repositories/all-repositories.js'
import { renewMarkers } from '../request/repository-markers.js'

export interface MarkOptions {
  readonly db: Database
  readonly dataDir: string
  /** Owner of the repositories; by default all repositories are marked. */
  readonly ownerId?: number | undefined
  readonly signal?: AbortSignal
}

/** Writes each marker that is missing or wrong, one after the other. */
export async function markRepositories(options: MarkOptions): Promise<void> {
  const { db, dataDir, ownerId, signal } = options
  for await (const page of pagesOf((rows) => listAllRepositories(db, { ...rows, ownerId }))) {
    for (const repository of page) {
      signal?.throwIfAborted()
      await renewMarkers(dataDir, repository)
    }
  }
}
