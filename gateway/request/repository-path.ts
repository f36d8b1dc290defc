/** Path of a repository's folder. */

import { repositoryPath } from '../../cgi/repository/paths.js'
import type { Settings } from '../../conf/settings.js'

const paths = new WeakMap<object, string>()

/**
 * Returns the path of a repository's folder. All calls for one row return the same string object,
 * because lookups in caches keyed by the path are faster if the strings are identical.
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
