/** The switches of workflow automation: one of the site, and one of each repository. */

import { notFound } from '../../../conf/failures.js'
import type { Settings } from '../../../conf/settings.js'
import type { Repository } from '../../../sql/repositories/repositories.js'

interface Switches {
  readonly settings: { readonly actions: Pick<Settings['actions'], 'isEnabled'> }
}

/** True if workflows run in a repository. */
export function hasActions(
  { settings }: Switches,
  { preferences }: Pick<Repository, 'preferences'>,
): boolean {
  return settings.actions.isEnabled && preferences['has_actions'] === true
}

/** Throws `not_found` unless workflows run in the repository. */
export function refuseWithoutActions(
  context: Switches,
  repository: Pick<Repository, 'preferences'>,
): void {
  if (!hasActions(context, repository)) throw notFound()
}
