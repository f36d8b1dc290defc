/** The folder of a repository, by its row. */

import { repositoryPath } from '../../cgi/repository/paths.js'
import type { Settings } from '../../conf/settings.js'

const paths = new WeakMap<object, string>()

/**
 * Returns the path of a repository's folder. A row has one text for all calls: caches that are
 * keyed by the path find an equal text of the same identity faster.
 */
export function repositoryPathOf(
  { settings }: { readonly settings: Pick<Settings, 'data'> },
  repository: { readonly storage: string },
): string {
  const known = paths.get(repository)
  if (known !== undefined) return known
  const path = repositoryPath(settings.data.dir, repository.storage)
  paths.set(repository, path)
  return path
}
