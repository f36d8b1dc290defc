/** Storage of the events that may start workflow runs, until they are planned. */

import { randomUUID } from 'node:crypto'
import type { Repository } from '../../sql/repositories/repositories.js'
import { addRunEvent, type NewRunEvent } from '../../sql/runs/events.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import { payloadText } from './payload-text.js'

/** True if events of a repository may start runs. */
export function startsRuns(context: Context, repository: Repository): boolean {
  const isMirror = repository.source?.mirror !== undefined
  return hasActions(context, repository) && !repository.isArchived && !isMirror
}

/** Stores an event, unless it was stored before, and has it planned. */
export async function storeEvent(context: Context, event: NewRunEvent): Promise<void> {
  const id = await addRunEvent(context.db, event)
  if (id !== undefined) await context.upkeep.enqueuePlan(id)
}

/** A change whose subject may be deleted before the event is planned. */
export interface RenderedChange extends Pick<NewRunEvent, 'event' | 'action' | 'actorId'> {
  readonly repositoryId: number
  readonly payload: object
  readonly title: string
}

/** Stores a change with its payload. It starts the workflows on the default branch. */
export async function storeChange(
  context: Context,
  { payload, ...change }: RenderedChange,
): Promise<void> {
  await storeEvent(context, {
    ...change,
    causeKey: randomUUID(),
    pullNumber: undefined,
    reference: '',
    before: undefined,
    after: '',
    payload: payloadText(payload),
  })
}
