/** Turns the errors of a full or read-only disk into the error `insufficient_storage`. */

import { constants } from 'node:os'
import { Failure, isFailure } from './failures.js'

/** Codes of the operating system, SQLite and MySQL for a full or read-only disk. */
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

/** Codes that MySQL uses for any error of a file. The message names the system's error. */
const CODES_OF_ANY_FILE_ERROR: ReadonlySet<string> = new Set([
  'ER_ERROR_ON_WRITE',
  'ER_ERROR_ON_CLOSE',
  'ER_CANT_CREATE_FILE',
  'ER_GET_ERRNO',
])

/** Messages of programs for ENOSPC (git has two), EDQUOT and EROFS under LC_ALL=C. */
const TEXT = /No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system/

/** Number of errors in a chain of causes that are examined. */
const CAUSES_MAX = 5

const RETRY_AFTER_SECONDS = 60

/** Returns true if the standard error of a program reports a full or read-only disk. */
export function saysDiskIsFull(errorText: string): boolean {
  return TEXT.test(errorText)
}

/**
 * Returns `insufficient_storage` if the error or one of its causes reports a full disk, an exceeded
 * quota or a read-only file system. Returns undefined for any other error.
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

/** Returns the error for a write that the disk has no space for. No cause: it was not attempted. */
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
