/** Events that may start workflow runs, stored until they are planned. */

import { createHash } from 'node:crypto'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, isUniqueViolation } from '../database/errors.js'

/** A branch or tag that a push created or moved. */
export interface PushEvent {
  readonly id: number
  readonly repositoryId: number
  /** Identifies the event; runs of the same event and workflow exist once. */
  readonly key: string
  /** Full name of the ref. */
  readonly reference: string
  /** Undefined if the push created the ref. */
  readonly before: string | undefined
  readonly after: string
  /** Undefined if the account was deleted. */
  readonly actorId: number | undefined
}

export interface NewPushEvent extends Omit<PushEvent, 'id' | 'key'> {
  /** Key of the push. */
  readonly pushKey: string
}

/**
 * Inserts an event, unless it was inserted before, and returns its id; undefined if the repository
 * does not exist.
 */
export async function addPushEvent(
  db: Database,
  { pushKey, repositoryId, reference, before, after, actorId }: NewPushEvent,
): Promise<number | undefined> {
  const key = createHash('sha256').update(`${pushKey} ${reference}`).digest('hex')
  try {
    const [id] = await db('workflow_events').insert({
      repository_id: repositoryId,
      event_key: key,
      ref: reference,
      before_id: before ?? null,
      after_id: after,
      actor_id: actorId ?? null,
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
export async function findPushEvent(db: Database, id: number): Promise<PushEvent | undefined> {
  const [row] = await selectRows<EventRow>(
    db,
    `select e.id, e.repository_id, e.event_key, e.ref, e.before_id, e.after_id, e.actor_id
      from workflow_events e where e.id = ?`,
    [id],
  )
  return row && eventOf(row)
}

/** Deletes an event whose runs are created. */
export async function removePushEvent(db: Database, id: number): Promise<void> {
  await db('workflow_events').where({ id }).delete()
}

interface EventRow {
  readonly id: number
  readonly repository_id: number
  readonly event_key: string
  readonly ref: string
  readonly before_id: string | null
  readonly after_id: string
  readonly actor_id: number | null
}

function eventOf(row: EventRow): PushEvent {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    key: row.event_key,
    reference: row.ref,
    before: row.before_id ?? undefined,
    after: row.after_id,
    actorId: row.actor_id ?? undefined,
  }
}
