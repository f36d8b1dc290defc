/** Classification of driver errors, for both databases. */

import { diskFailureOf } from '../../conf/disk-failure.js'
import { Failure } from '../../conf/failures.js'

const RETRY_AFTER_SECONDS = 2

/** Error codes of a server that cannot serve now, besides the errors that mysql2 marks as fatal. */
const AWAY_CODES: ReadonlySet<string> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_SERVER_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_OUT_OF_RESOURCES',
  'ER_OUTOFMEMORY',
  // A Galera node that has left its cluster answers every statement with error 1047.
  'ER_UNKNOWN_COM_ERROR',
])

const SQLITE_AWAY = /^SQLITE_(?:BUSY|LOCKED|IOERR|CANTOPEN|READONLY|PROTOCOL)/

const UNIQUE_CODES: ReadonlySet<string> = new Set([
  'ER_DUP_ENTRY',
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
])

const REFERENCE_CODES: ReadonlySet<string> = new Set([
  'ER_ROW_IS_REFERENCED',
  'ER_ROW_IS_REFERENCED_2',
  'ER_NO_REFERENCED_ROW',
  'ER_NO_REFERENCED_ROW_2',
  'SQLITE_CONSTRAINT_FOREIGNKEY',
])

const LOCK_CODES: ReadonlySet<string> = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
])

/**
 * Converts a driver error to a Failure if the disk is full or read-only, the database is
 * unavailable, or a value is too long. Other errors are returned unchanged: constraint violations
 * and lost locks are handled by query functions and `transaction`, and the rest are bugs, which are
 * logged.
 */
export function translateError(error: unknown): unknown {
  const code = codeOf(error)
  const diskFailure = diskFailureOf(error)
  if (diskFailure !== undefined) return diskFailure
  if (isFatal(error) || AWAY_CODES.has(code) || SQLITE_AWAY.test(code)) return unavailable(error)
  if (code === 'ER_DATA_TOO_LONG') {
    return new Failure('invalid', 'A value is too long.', { cause: error })
  }
  return error
}

/**
 * Returns the `unavailable` error of a database that cannot answer now; a retry may succeed soon.
 */
export function unavailable(cause: unknown): Failure {
  return new Failure('unavailable', 'The database does not answer. Please try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

/** Returns true if a row with the same unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  return UNIQUE_CODES.has(codeOf(error))
}

/**
 * Returns true if a deleted row is still referenced, or if a written row references a missing one.
 */
export function isReferenceViolation(error: unknown): boolean {
  return REFERENCE_CODES.has(codeOf(error))
}

/** Returns true if running the same transaction again can succeed. */
export function isLockConflict(error: unknown): boolean {
  return LOCK_CODES.has(codeOf(error))
}

/** Returns true if another process holds SQLite's lock. */
export function isSqliteBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** Runs `work`. Throws `conflict` with this text on a unique violation. */
export async function orConflict<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isUniqueViolation(error) ? new Failure('conflict', message, { cause: error }) : error
  }
}

/** Runs `work`. Throws `not_found` with this text on a foreign key violation. */
export async function orNotFound<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isReferenceViolation(error) ? new Failure('not_found', message, { cause: error }) : error
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && 'fatal' in error && error.fatal === true
}
