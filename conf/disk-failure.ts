/** Errors of a disk that takes no more data, as the failure `insufficient_storage`. */

import { constants } from 'node:os'
import { Failure, isFailure } from './failures.js'

/** Error codes of the system, of SQLite and of MySQL. */
const CODES: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EROFS',
  'SQLITE_FULL',
  'SQLITE_READONLY',
  'SQLITE_READONLY_DIRECTORY',
  // SQLite reports only ENOSPC as SQLITE_FULL; an exceeded quota is a failed write to it.
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_SHMSIZE',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
])

/** Codes under which MySQL reports every error of a file; the message names the system's error. */
const CODES_OF_ANY_FILE_ERROR: ReadonlySet<string> = new Set([
  'ER_ERROR_ON_WRITE',
  'ER_ERROR_ON_CLOSE',
  'ER_CANT_CREATE_FILE',
  'ER_GET_ERRNO',
])

/** Messages of programs for ENOSPC (git has two), EDQUOT and EROFS under LC_ALL=C. */
const TEXT = /No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system/

/** An error is wrapped by a few others at most. */
const CAUSES_MAX = 5

const RETRY_AFTER_SECONDS = 60

/** Tells whether the standard error of a program says that a disk takes no more data. */
export function saysDiskIsFull(errorText: string): boolean {
  return TEXT.test(errorText)
}

/**
 * Returns `insufficient_storage` for an error, or an error with a cause, that says that a disk is
 * full, a quota is exceeded or a file system is read-only; undefined for any other error.
 */
export function diskFailureOf(error: unknown): Failure | undefined {
  if (isFailure(error, 'insufficient_storage')) return error
  let each = error
  for (let depth = 0; depth < CAUSES_MAX && each instanceof Error; depth += 1) {
    if (isOfDisk(each)) return insufficientStorage(error)
    each = each.cause
  }
  return undefined
}

/** The failure of a write for which there is no room; without a cause, it was not attempted. */
export function insufficientStorage(cause?: unknown): Failure {
  return new Failure('insufficient_storage', MESSAGE, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

const MESSAGE =
  "The server's disk is full or read-only. Reading still works; try to write again later."

function isOfDisk(error: Error): boolean {
  // Node.js has no code for an exceeded quota, only the number.
  if ('errno' in error && error.errno === -constants.errno.EDQUOT) return true
  const code = 'code' in error ? error.code : undefined
  if (typeof code !== 'string') return TEXT.test(error.message)
  return CODES.has(code) || (CODES_OF_ANY_FILE_ERROR.has(code) && TEXT.test(error.message))
}
