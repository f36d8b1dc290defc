/** Markers in the folders of repositories: owner and name, readable without the database. */

import { readMarker, writeMarker } from '../../cgi/repository/marker.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { wikiOf } from '../../sql/repositories/wikis.js'
import type { Context } from './context.js'

/** Returns the marker of a repository or a wiki. */
export function markerOf({ owner, name }: Pick<Repository, 'owner' | 'name'>): string {
  return `${owner.name}/${name}`
}

/** Renews the markers of a repository and its wiki after a change of their name. Never rejects. */
export async function remarkRepository(
  { log, settings }: Pick<Context, 'log' | 'settings'>,
  repository: Repository,
): Promise<void> {
  try {
    await renewMarkers(settings.data.dir, repository)
  } catch (error) {
    log.warn({ error, repository: repository.id }, 'the marker of a repository was not written')
  }
}

/** Writes the markers of a repository and of its wiki unless they are right. */
export async function renewMarkers(dataDir: string, repository: Repository): Promise<void> {
  for (const each of [repository, wikiOf(repository)]) {
    const path = repositoryPath(dataDir, each.storage)
    const marker = markerOf(each)
    if ((await readMarker(path)) !== marker) await writeMarker(path, marker)
  }
}
