/** What follows from references that were made, moved or removed: create, delete, push. */

import { randomUUID } from 'node:crypto'
import type { PushedChange } from '../../../cgi/refs/pushed-changes.js'
import type { HookEvent } from '../../../conf/hook-events.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { ownerObject } from '../../objects/accounts/user-object.js'
import { repositoryObject } from '../../objects/repositories/repository-object.js'
import type { Context } from '../../request/context.js'
import { type DomainEvent, hasSubscribers, recordEvent } from '../webhooks/events.js'
import { pushPayload } from './push-payload.js'

/** The kinds that a change of references may lead to. */
export const REFERENCE_EVENTS: readonly HookEvent[] = ['create', 'delete', 'push']

/** Changes of references, and who made them. */
export interface ReferenceChanges {
  readonly repository: Repository
  /** Undefined for a deploy key: then the owner stands for it. */
  readonly pusher: Owner | undefined
  readonly changes: readonly PushedChange[]
  /** Told twice under the same key, they are delivered once. */
  readonly key?: string
}

/** Tells of the changes of branches and tags. Settles when all deliveries are written down. */
export async function recordReferenceEvents(
  context: Context,
  { repository: before, pusher, changes, key = randomUUID() }: ReferenceChanges,
): Promise<void> {
  if (!(await hasSubscribers(context, before, REFERENCE_EVENTS))) return
  // As it is now: its first push has made it another one.
  const repository = await findRepositoryById(context.db, before.id)
  if (repository === undefined) return
  const told = { repository, pusher: pusher ?? repository.owner, key }
  for (const change of changes) {
    for (const event of eventsOf(context, told, change)) await recordEvent(context, event)
  }
}

interface EventInput {
  readonly repository: Repository
  readonly pusher: Owner
  readonly key: string
}

/**
 * A new branch or tag is told of before what was pushed to it. A branch that goes is no push, a tag
 * that goes is one.
 */
function eventsOf(
  context: Context,
  told: EventInput,
  change: PushedChange,
): readonly DomainEvent[] {
  const [, room, short] = /^refs\/(heads|tags)\/(.+)$/.exec(change.name) ?? []
  if (short === undefined) return []
  const { repository, pusher, key } = told
  const isBranch = room === 'heads'
  const about = (event: HookEvent) => ({
    event,
    repository,
    key: `${key} ${event} ${change.name}`,
    branch: isBranch ? short : undefined,
  })
  const scene = async () => ({
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, pusher),
  })
  const ref = { ref: short, ref_type: isBranch ? 'branch' : 'tag' }
  const push: DomainEvent = {
    ...about('push'),
    payload: () => pushPayload(context, { repository, pusher, change }),
  }
  if (change.after === undefined) {
    const payload = async () => ({ ...ref, pusher_type: 'user', ...(await scene()) })
    const removal: DomainEvent = { ...about('delete'), payload }
    return isBranch ? [removal] : [push, removal]
  }
  if (change.before !== undefined) return [push]
  const payload = async () => ({ sha: change.after, ...ref, ...(await scene()) })
  return [{ ...about('create'), payload }, push]
}
