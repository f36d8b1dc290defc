/** What rooms that keep files share: flushing these to the disk, and not minding those gone. */

import { open } from 'node:fs/promises'

/** Makes one file, or the names within one folder, survive a loss of power. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What an operation gives, or undefined where the file or folder is gone. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
