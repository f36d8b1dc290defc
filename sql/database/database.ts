/** Opening the database, and running several statements as one. */

import knex, { type Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import type { Settings } from '../../conf/settings.js'
import { checkServer, describeLocation, knexConfig, prepareLocation } from './dialect.js'
import { retryLockConflicts } from './retry.js'

/** The database, or a transaction on it: every function of this floor takes either. */
export type Database = Knex

/** Opens the database. Throws an Error of one line, without the password, when that fails. */
export async function openDatabase(settings: Settings['database']): Promise<Database> {
  let db: Database | undefined
  try {
    await prepareLocation(settings.location)
    db = knex(knexConfig(settings))
    await checkServer(db)
    return db
  } catch (error) {
    await db?.destroy()
    const where = describeLocation(settings.location)
    throw new Error(`The database ${where} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

function reasonOf(error: unknown): string {
  const reason = error instanceof Failure ? error.cause : error
  const message = reason instanceof Error ? reason.message || reason.name : String(reason)
  return message.split('\n')[0] ?? ''
}

/** Closes the database when all that runs on it has ended. */
export async function closeDatabase(db: Database): Promise<void> {
  await db.destroy()
}

/** Throws `unavailable` when the database does not answer. */
export async function ping(db: Database): Promise<void> {
  await db.raw('select 1')
}

/**
 * Runs `work` whole or not at all, and again when it lost a lock: it must do nothing but ask the
 * database, and only through what it is given. Within another transaction it ends with that one.
 */
export async function transaction<T>(
  db: Database,
  work: (trx: Database) => Promise<T>,
): Promise<T> {
  // Losing a lock ends the outer transaction, so that only the outer one can be run again.
  if (db.isTransaction === true) return await db.transaction(work)
  return await retryLockConflicts(() => db.transaction(work))
}
