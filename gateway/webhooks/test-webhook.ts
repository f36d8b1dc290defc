/** Test delivery of a webhook: a push of a commit that the repository has already. */

import { randomUUID } from 'node:crypto'
import { withObjects } from '../../cgi/objects/with-objects.js'
import { findRevision } from '../../cgi/refs/revision.js'
import type { User } from '../../sql/accounts/users.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { Webhook } from '../../sql/webhooks/webhooks.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { deliverTo } from './deliveries.js'
import { testPushPayload } from './push-payload.js'

export interface WebhookTest {
  readonly repository: Repository
  /** Pusher in the payload; by default the owner. */
  readonly user: User | undefined
  readonly webhook: Webhook
  /** Branch, tag or commit; by default the default branch. */
  readonly ref?: string | undefined
}

/** Enqueues a test delivery. Returns false if the repository has no such commit. */
export async function testWebhook(
  context: Context,
  { repository, user, webhook, ref }: WebhookTest,
): Promise<boolean> {
  const path = repositoryPathOf(context, repository)
  const revision = ref || `refs/heads/${repository.defaultBranch}`
  const found = await withObjects(context.git, path, (objects) => findRevision(objects, revision))
  if (found === undefined) return false
  const { name, commitId } = found
  const pusher = user ?? repository.owner
  const payload = await testPushPayload(context, { repository, pusher, ref: name, commitId })
  await deliverTo(context, [webhook], { event: 'push', payload, key: randomUUID() })
  return true
}
