/** Events that may start workflow runs, stored until they are planned. */

import { createHash } from 'node:crypto'
import type { RunEventName } from '../../conf/run-events.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, isUniqueViolation } from '../database/errors.js'
import { cut, NAME_CHARACTERS_MAX } from './cut.js'

/** A branch or tag that a push created or moved, or another change. */
export interface RunEvent {
  readonly id: number
  readonly repositoryId: number
  readonly event: RunEventName
  /** Identifies the event; runs of the same event and workflow exist once. */
  readonly key: string
  /** Action in the words of webhooks; empty for a push. */
  readonly action: string
  /** Number of the pull request whose head the event is about. */
  readonly pullNumber: number | undefined
  /** Full name of the ref; empty for the default branch. */
  readonly reference: string
  /** Undefined if the push created the ref, and for other events. */
  readonly before: string | undefined
  /** Id of the commit or tag; empty for the one that the ref has when the event is planned. */
  readonly after: string
  /** Undefined if the account was deleted. */
  readonly actorId: number | undefined
  /** Payload as JSON; undefined if it is rendered when the event is planned. */
  readonly payload: string | undefined
  /** Title of the runs; empty for the first line of the commit's message. */
  readonly title: string
  /** Chain depth of the runs; see `Run`. */
  readonly chainDepth: number
}

export interface NewRunEvent
  extends Omit<RunEvent, 'id' | 'key' | 'payload' | 'title' | 'chainDepth'> {
  /** Key of the push or of the change. */
  readonly causeKey: string
  readonly payload?: string
  readonly title?: string
  readonly chainDepth?: number
}

/**
 * Inserts an event, unless it was inserted before, and returns its id; undefined if the repository
 * does not exist.
 */
export async function addRunEvent(
  db: Database,
  { causeKey, repositoryId, ...event }: NewRunEvent,
): Promise<number | undefined> {
  const { reference, before, after, actorId } = event
  const key = createHash('sha256')
    .update(`${causeKey} ${repositoryId} ${event.event} ${reference}`)
    .digest('hex')
  try {
    const [id] = await db('workflow_events').insert({
      repository_id: repositoryId,
      event_key: key,
      event: event.event,
      action: event.action,
      pull_number: event.pullNumber ?? null,
      ref: reference,
      before_id: before ?? null,
      after_id: after,
      actor_id: actorId ?? null,
      payload: event.payload ?? null,
      title: cut(event.title ?? '', NAME_CHARACTERS_MAX),
      chain_depth: event.chainDepth ?? 0,
      created_at: Date.now(),
    })
    return id
  } catch (error) {
    if (isReferenceViolation(error)) return undefined
    if (!isUniqueViolation(error)) throw error
    const row: { id: number } | undefined = await db('workflow_events')
      .where({ event_key: key })
      .first('id')
    return row?.id
  }
}

/** Returns an event that is not planned yet. */
export async function findRunEvent(db: Database, id: number): Promise<RunEvent | undefined> {
  const [row] = await selectRows<EventRow>(
    db,
    `select e.id, e.repository_id, e.event, e.event_key, e.action, e.pull_number, e.ref,
      e.before_id, e.after_id, e.actor_id, e.payload, e.title,
      e.chain_depth from workflow_events e where e.id = ?`,
    [id],
  )
  return row && eventOf(row)
}

/** Returns the ids of the events that were stored between two times and are not planned yet. */
export async function listUnplannedEvents(
  db: Database,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select e.id from workflow_events e
      where e.created_at >= ? and e.created_at < ? order by e.id limit ?`,
    [fromMs, toMs, limit],
  )
  return rows.map(({ id }) => id)
}

/** Deletes an event whose runs are created. */
export async function removeRunEvent(db: Database, id: number): Promise<void> {
  await db('workflow_events').where({ id }).delete()
}

interface EventRow {
  readonly id: number
  readonly repository_id: number
  readonly event: RunEvent['event']
  readonly event_key: string
  readonly action: string
  readonly pull_number: number | null
  readonly ref: string
  readonly before_id: string | null
  readonly after_id: string
  readonly actor_id: number | null
  readonly payload: string | null
  readonly title: string
  readonly chain_depth: number
}

function eventOf(row: EventRow): RunEvent {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    event: row.event,
    key: row.event_key,
    action: row.action,
    pullNumber: row.pull_number ?? undefined,
    reference: row.ref,
    before: row.before_id ?? undefined,
    after: row.after_id,
    actorId: row.actor_id ?? undefined,
    payload: row.payload ?? undefined,
    title: row.title,
    chainDepth: row.chain_depth,
  }
}
