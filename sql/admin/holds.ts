/** Holds: while one is valid, bytes and Git objects that were deleted stay on the disk. */

import type { Database } from '../database/database.js'

/** Time after which a hold ends without a renewal, for example because its process was killed. */
export const HOLD_MS = 120_000

/** Begins a hold and returns its id. Removes the rows of ended ones. */
export async function beginHold(db: Database, kind: 'backup'): Promise<number> {
  await db('holds').where('held_until', '<=', Date.now()).delete()
  const [id] = await db('holds').insert({ kind, held_until: Date.now() + HOLD_MS })
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Extends a hold. Returns false if it has ended: then something may have been removed. */
export async function renewHold(db: Database, id: number): Promise<boolean> {
  const nowMs = Date.now()
  const valid = db('holds').where({ id }).where('held_until', '>', nowMs)
  return (await valid.update({ held_until: nowMs + HOLD_MS })) > 0
}

/** Ends a hold. Returns false if it had ended before. */
export async function endHold(db: Database, id: number): Promise<boolean> {
  const wasValid = await renewHold(db, id)
  await db('holds').where({ id }).delete()
  return wasValid
}

/**
 * Returns true if a hold is valid. Must be called after the deletion of the row is committed and
 * before the data that it named is removed: a hold that begins later has a snapshot without the
 * row. The query bypasses the cache, which may be as old as the current tick.
 */
export async function isHeld(db: Database): Promise<boolean> {
  const valid = await db('holds').where('held_until', '>', Date.now()).first('id')
  return valid !== undefined
}
