/** Helpers for files on disk: flushing them, and operations on files that may not exist. */

import { closeSync, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** Age after which locks and partial files are treated as leftovers of a crash. */
export const CRASH_GRACE_MS = 3_600_000

/**
 * Flushes a file, or the entries of a folder, to the disk (fsync), so that power loss is safe.
 * Opens and closes it synchronously: two more tasks of the thread pool would double the cost.
 */
export async function syncPath(path: string): Promise<void> {
  const file = openSync(path, 'r')
  try {
    await syncFile(file)
  } finally {
    closeSync(file)
  }
}

/** Flushes an open file to the disk. */
export const syncFile: (file: number) => Promise<void> = promisify(fsync)

/** Returns the result of a file operation, or undefined if the file or folder does not exist. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    return undefinedIfMissing(error)
  }
}

/** Calls a synchronous file operation. Returns undefined if the file or folder does not exist. */
export function unlessMissingSync<T>(operation: () => T): T | undefined {
  try {
    return operation()
  } catch (error) {
    return undefinedIfMissing(error)
  }
}

function undefinedIfMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  throw error
}
