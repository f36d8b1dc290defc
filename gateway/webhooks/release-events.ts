/** Webhook events of changed releases. */

import { ANONYMOUS } from '../auth/authenticate.js'
import { releaseObject } from '../objects/releases/release-object.js'
import type { Context } from '../request/context.js'
import type { ReleaseChanged } from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'
import { OWNER_ACCESS, releaseEvent } from './payloads.js'

/** Returns the event of a release that was published, changed or deleted. */
export async function releaseChangeEvent(
  context: Context,
  { action, repository, release: row, actor }: ReleaseChanged,
): Promise<WebhookEvent> {
  const view = {
    who: ANONYMOUS,
    user: actor,
    repository,
    ...OWNER_ACCESS,
    hasMoved: false,
  } as const
  const release = await releaseObject(context, view, row)
  return releaseEvent(context, { action, repository, sender: actor, release })
}
