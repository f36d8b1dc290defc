/** Opening the database, and transactions. */

import knex, { type Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import type { Settings } from '../../conf/settings.js'
import { checkServer, describeLocation, knexConfig, prepareLocation } from './dialect.js'
import { retryLockConflicts } from './retry.js'

/** Database or a transaction on it. Every function in sql/ takes either. */
export type Database = Knex

/**
 * Opens the database. Throws an Error with a one-line message, without the password, if that fails.
 */
export async function openDatabase(settings: Settings['database']): Promise<Database> {
  let db: Database | undefined
  try {
    await prepareLocation(settings.location)
    db = knex(knexConfig(settings))
    await checkServer(db)
    return db
  } catch (error) {
    await db?.destroy()
    const { location } = settings
    throw new Error(
      `The database ${describeLocation(location)} cannot be used: ${reasonOf(error)}; ${REMEDIES[location.kind]}`,
      { cause: error },
    )
  }
}

const REMEDIES = {
  sqlite: 'correct database.url, or restore the file from a backup',
  mysql: 'start the database server, or correct database.url',
}

function reasonOf(error: unknown): string {
  const reason = error instanceof Failure ? error.cause : error
  const message = reason instanceof Error ? reason.message || reason.name : String(reason)
  return message.split('\n')[0] ?? ''
}

/** Closes the database after all running statements have ended. */
export async function closeDatabase(db: Database): Promise<void> {
  await db.destroy()
}

/** Throws `unavailable` if the database does not answer. */
export async function ping(db: Database): Promise<void> {
  await db.raw('select 1')
}

/**
 * Runs `work` in a transaction, and again if it loses a lock. `work` must have no effects other
 * than database statements, all of them on the transaction that it receives. A nested transaction
 * commits with the outer one.
 */
export async function transaction<T>(
  db: Database,
  work: (trx: Database) => Promise<T>,
): Promise<T> {
  // A lost lock rolls back the outer transaction, so only the outer one can be retried.
  if (db.isTransaction === true) return await db.transaction(work)
  return await retryLockConflicts(() => db.transaction(work))
}
