/** Storage of the events that may start workflow runs, until they are planned. */

import { randomUUID } from 'node:crypto'
import type { Repository } from '../../sql/repositories/repositories.js'
import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { addRunEvent, type NewRunEvent } from '../../sql/runs/events.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import type { WebhookEvent } from '../webhooks/deliveries.js'
import { payloadText } from './payload-text.js'

/** True if events of a repository may start runs. */
export function startsRuns(context: Context, repository: Repository): boolean {
  const isMirror = repository.source?.mirror !== undefined
  return hasActions(context, repository) && !repository.isArchived && !isMirror
}

/**
 * Stores an event, unless it was stored before, and has it planned. Refs whose names are longer
 * than the columns of runs start nothing.
 */
export async function storeEvent(context: Context, event: NewRunEvent): Promise<void> {
  if (event.reference.length > NAME_CHARACTERS_MAX) return
  const id = await addRunEvent(context.db, event)
  if (id !== undefined) await context.upkeep.enqueuePlan(id)
}

/** A change whose subject may be deleted before the event is planned. */
export interface RenderedChange extends Pick<NewRunEvent, 'event' | 'action' | 'actorId'> {
  readonly repositoryId: number
  readonly title: string
  /** Key of the change; by default a new one, for domain events that are published once. */
  readonly causeKey?: string
  /** Full name of the ref of the files; by default that of the default branch. */
  readonly reference?: string
  readonly after?: string
  readonly chainDepth?: number
}

/** Stores a change with its payload; has no effect if the subject was deleted meanwhile. */
export async function storeChange(
  context: Context,
  render: WebhookEvent['payload'] | undefined,
  change: RenderedChange,
): Promise<void> {
  const payload = await render?.()
  if (payload === undefined) return
  await storeEvent(context, {
    causeKey: randomUUID(),
    pullNumber: undefined,
    reference: '',
    before: undefined,
    after: '',
    ...change,
    payload: payloadText(payload),
  })
}
