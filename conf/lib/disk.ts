/** Helpers for files on disk: flushing them, and operations on files that may not exist. */

import { open } from 'node:fs/promises'

/** Age after which locks and partial files are treated as leftovers of a crash. */
export const CRASH_GRACE_MS = 3_600_000

/** Flushes a file, or the entries of a folder, to the disk (fsync), so that power loss is safe. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns the result of a file operation, or undefined if the file or folder does not exist. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
