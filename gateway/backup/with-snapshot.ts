/** Consistent view of a running site, for the backup programs of administrators. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Snapshot } from './layout.js'
import { underBackupLock } from './lock.js'
import { type BackupContext, takeBackup } from './take-backup.js'

/**
 * Calls `use` with a backup folder that has one snapshot, and removes it afterwards. The path is
 * always the same, because backup programs compare a path with its former content. Files on the
 * file system of the data folder are hard links, and others are copied. A killed process leaves the
 * folder, which the next call replaces. The signal aborts the copying. Throws an Error if another
 * call is running.
 */
export async function withSnapshot<T>(
  context: BackupContext,
  signal: AbortSignal,
  use: (dir: string, snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const folder = join(context.settings.data.dir, 'snapshots')
  const dir = join(folder, 'current')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return await underBackupLock(folder, async () => {
    const remove = () => rm(dir, { recursive: true, force: true, maxRetries: 3 })
    await remove()
    try {
      return await use(dir, await takeBackup(context, dir, signal))
    } finally {
      await remove()
    }
  })
}
