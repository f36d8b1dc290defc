/** Events of changed releases. */

import type { Context } from '../../request/context.js'
import type { ReleaseChanged } from '../../request/events.js'

/** Publishes a change that is in the database, unless the release is a draft. */
export async function releaseChanged(
  context: Context,
  change: Omit<ReleaseChanged, 'kind'>,
): Promise<void> {
  if (change.release.isDraft) return
  await context.events.publish({ kind: 'release_changed', ...change })
}
