/** Planning: starts the runs of an event from the workflow files at its commit. */

import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { findRunEvent, type RunEvent, removeRunEvent } from '../../sql/runs/events.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import { planChange } from './plan-change.js'
import { planPull } from './plan-pull.js'
import { planPush } from './plan-push.js'

/**
 * Creates the runs of an event and removes the event. Has no effect if the event was planned
 * before; if it was interrupted, the runs that exist are not created again.
 */
export async function planEvent(context: Context, eventId: number): Promise<void> {
  const event = await findRunEvent(context.db, eventId)
  const repository = event && (await findRepositoryById(context.db, event.repositoryId))
  if (event === undefined) return
  if (repository !== undefined && hasActions(context, repository)) {
    await plan(context, repository, event)
  }
  await removeRunEvent(context.db, eventId)
}

async function plan(context: Context, repository: Repository, event: RunEvent): Promise<void> {
  switch (event.event) {
    case 'push':
      return await planPush(context, repository, event)
    case 'pull_request':
    case 'pull_request_target':
    case 'pull_request_review':
    case 'pull_request_review_comment':
      return await planPull(context, repository, { ...event, event: event.event })
    default:
      return await planChange(context, repository, { ...event, event: event.event })
  }
}
