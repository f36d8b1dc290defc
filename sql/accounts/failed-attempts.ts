/** Numbers of failed attempts by key, such as an address or an account, within a time window. */

import { setImmediate as nextTick } from 'node:timers/promises'
import { type Database, transaction } from '../database/database.js'
import { insertedValue, selectRows } from '../database/dialect.js'

export interface FailedAttempts {
  /** Keyed hash of the address, the account or both, in lower-case hexadecimal. */
  readonly keyHash: string
  readonly failures: number
  /** End of the time window; the first later failure begins a new one. */
  readonly endsAtMs: number
}

/**
 * Adds failures of at most 500 different keys, which is SQLite's limit of rows. A key without
 * failures, or whose window has ended, begins the window of the added entry. Returns the totals of
 * these keys.
 */
export async function addFailedAttempts(
  db: Database,
  added: readonly FailedAttempts[],
  nowMs = Date.now(),
): Promise<readonly FailedAttempts[]> {
  // All gateways lock the rows in the same order, so that they do not wait for each other.
  const rows = added
    .map(({ keyHash, failures, endsAtMs }) => ({ key_hash: keyHash, failures, ends_at: endsAtMs }))
    .sort((one, other) => (one.key_hash < other.key_hash ? -1 : 1))
  const [failures, endsAt] = [insertedValue(db, 'failures'), insertedValue(db, 'ends_at')]
  return await transaction(db, async (trx) => {
    const isRunning = 'case when failed_attempts.ends_at > ?'
    await trx('failed_attempts')
      .insert(rows)
      .onConflict('key_hash')
      // MySQL assigns from left to right, and the first assignment needs the former end.
      .merge({
        failures: trx.raw(
          `${isRunning} then failed_attempts.failures + ${failures} else ${failures} end`,
          [nowMs],
        ),
        ends_at: trx.raw(`${isRunning} then failed_attempts.ends_at else ${endsAt} end`, [nowMs]),
      })
    const totals: readonly AttemptsRow[] = await trx('failed_attempts')
      .whereIn(
        'key_hash',
        rows.map(({ key_hash }) => key_hash),
      )
      .select('key_hash', 'failures', 'ends_at')
    return totals.map((row) => ({
      keyHash: row.key_hash,
      failures: row.failures,
      endsAtMs: row.ends_at,
    }))
  })
}

/** Maximum number of rows that one statement deletes, so that it locks the others only briefly. */
const DELETED_MAX = 1_000

/** Deletes the keys whose window has ended. */
export async function removeEndedAttempts(db: Database, nowMs = Date.now()): Promise<void> {
  for (;;) {
    const ended: readonly string[] = await db('failed_attempts')
      .where('ends_at', '<=', nowMs)
      .limit(DELETED_MAX)
      .pluck('key_hash')
    if (ended.length === 0) return
    // A failure after the query may have begun a new window.
    await db('failed_attempts')
      .whereIn('key_hash', [...ended])
      .where('ends_at', '<=', nowMs)
      .delete()
    if (ended.length < DELETED_MAX) return
    // The driver of SQLite is synchronous, so that many batches would block the event loop.
    await nextTick()
  }
}

/** Returns the number of keys. */
export async function countFailedKeys(db: Database): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from failed_attempts',
  )
  return Number(row?.total ?? 0)
}

interface AttemptsRow {
  readonly key_hash: string
  readonly failures: number
  readonly ends_at: number
}
