/** Tries a webhook: the newest commit of a branch is told as if it had been pushed. */

import { randomUUID } from 'node:crypto'
import { withObjects } from '../../../cgi/objects/objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Webhook } from '../../../sql/webhooks/webhooks.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { testPushPayload } from '../code/push-payload.js'
import { deliverTo } from './events.js'

export interface WebhookTest {
  readonly repository: Repository
  /** Who tries it; by default the owner. */
  readonly user: User | undefined
  readonly webhook: Webhook
  /** A branch, tag or commit; by default the default branch. */
  readonly ref?: string | undefined
}

/** Whether there was a commit to tell of. */
export async function testWebhook(
  context: Context,
  { repository, user, webhook, ref }: WebhookTest,
): Promise<boolean> {
  const path = repositoryPathOf(context, repository)
  const text = ref || `refs/heads/${repository.defaultBranch}`
  const found = await withObjects(context.git, path, (objects) => findRevision(objects, text))
  if (found === undefined) return false
  const { name, commitId } = found
  const pusher = user ?? repository.owner
  const payload = await testPushPayload(context, { repository, pusher, ref: name, commitId })
  const told = JSON.stringify(payload, null, 2)
  await deliverTo(context, [webhook], { event: 'push', payload: told, key: randomUUID() })
  return true
}
