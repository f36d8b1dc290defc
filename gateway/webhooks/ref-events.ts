/** Webhook events of refs that were created, moved or deleted: `create`, `delete` and `push`. */

import type { PushedChange } from '../../cgi/refs/pushed-changes.js'
import type { HookEvent } from '../../conf/hook-events.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { ownerObject } from '../objects/accounts/user-object.js'
import { repositoryObject } from '../objects/repositories/repository-object.js'
import type { Context } from '../request/context.js'
import type { RefsChanged } from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'
import { pushPayload } from './push-payload.js'

/** Kinds of events that a change of refs can cause. */
export const REF_EVENTS: readonly HookEvent[] = ['create', 'delete', 'push']

/** Returns the events of a push in the order of its changes; none if the repository is deleted. */
export async function refEvents(
  context: Context,
  changed: RefsChanged,
): Promise<readonly WebhookEvent[]> {
  // The first push changes the row of its repository.
  const repository = await findRepositoryById(context.db, changed.repository.id)
  if (repository === undefined) return []
  return changed.changes.flatMap((change) => eventsOf(context, { ...changed, repository }, change))
}

/**
 * Returns `create` before `push` for a new branch or tag. The deletion of a tag is a push, and the
 * deletion of a branch is not.
 */
function eventsOf(
  context: Context,
  { repository, pusher, key }: Omit<RefsChanged, 'changes'>,
  change: PushedChange,
): readonly WebhookEvent[] {
  const [, namespace, short] = /^refs\/(heads|tags)\/(.+)$/.exec(change.name) ?? []
  if (short === undefined) return []
  const isBranch = namespace === 'heads'
  const about = (event: HookEvent) => ({
    event,
    repository,
    key: `${key} ${event} ${change.name}`,
    branch: isBranch ? short : undefined,
  })
  const source = async () => ({
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, pusher),
  })
  const ref = { ref: short, ref_type: isBranch ? 'branch' : 'tag' }
  const push: WebhookEvent = {
    ...about('push'),
    payload: () => pushPayload(context, { repository, pusher, change }),
  }
  if (change.after === undefined) {
    const payload = async () => ({ ...ref, pusher_type: 'user', ...(await source()) })
    const deletion: WebhookEvent = { ...about('delete'), payload }
    return isBranch ? [deletion] : [push, deletion]
  }
  if (change.before !== undefined) return [push]
  const payload = async () => ({ sha: change.after, ...ref, ...(await source()) })
  return [{ ...about('create'), payload }, push]
}
