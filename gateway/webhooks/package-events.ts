/** Webhook events of versions of packages. */

import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { accessToLinked } from '../auth/authorize-repository.js'
import { packageObjects } from '../objects/packages/package-object.js'
import type { Context } from '../request/context.js'
import type { PackageChanged } from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'
import { packagePayload } from './payloads.js'

/** Returns the event of a version, whose rows are read now; undefined if it was deleted before. */
export async function packageChangeEvent(
  context: Context,
  { kind, version, grant }: PackageChanged,
): Promise<WebhookEvent | undefined> {
  const { repositoryId } = version
  // Not limited by the scopes of the publisher's token, because the payload is not for its client.
  const viewer = { grant, accessTo: accessToLinked }
  const [object] = await packageObjects(context, [version], viewer)
  const repository =
    repositoryId === undefined ? undefined : await findRepositoryById(context.db, repositoryId)
  if (object === undefined) return undefined
  const { owner, user: sender = owner } = grant
  const action = kind === 'package_published' ? 'created' : 'deleted'
  const input = { action, owner, sender, repository, object } as const
  const payload = () => packagePayload(context, input)
  return { event: 'package', repository, owner, payload }
}
