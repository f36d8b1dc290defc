/** Removes old snapshots of a backup folder, and the shared files that no snapshot names. */

import { rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { walk } from '../../cgi/repository/walk.js'
import { syncPath } from '../../conf/lib/disk.js'
import type { BackedUpRepository } from './capture-repository.js'
import {
  BLOBS,
  listSnapshots,
  MANIFEST,
  REPOSITORIES,
  removeIncomplete,
  sharedBlobPath,
  sharedObjectPath,
  snapshotsFolder,
} from './layout.js'
import { underBackupLock } from './lock.js'
import { pagesOf } from './pages-of.js'

export interface PrunedSnapshots {
  readonly snapshots: readonly string[]
  /** Number of removed shared files, and their size. */
  readonly files: number
  readonly bytes: number
}

/** Keeps the last `keep` snapshots. A killed call is completed by the next one. */
export async function pruneSnapshots(target: string, keep: number): Promise<PrunedSnapshots> {
  const dir = resolve(target)
  return await underBackupLock(dir, async () => {
    const all = await listSnapshots(dir)
    const old = all.slice(0, Math.max(0, all.length - keep)).map(({ id }) => id)
    for (const id of old) {
      const folder = join(snapshotsFolder(dir), id)
      // A folder without its manifest is no snapshot, so a killed removal leaves no damaged one.
      await rm(join(folder, MANIFEST))
      await syncPath(folder)
    }
    const needed = new Set<string>()
    await removeIncomplete(dir)
    for (const { id } of await listSnapshots(dir)) {
      await addNeeded(needed, dir, join(snapshotsFolder(dir), id))
    }
    return { snapshots: old, ...(await removeUnneeded(dir, needed)) }
  })
}

async function addNeeded(needed: Set<string>, dir: string, folder: string): Promise<void> {
  for await (const lines of pagesOf(join(folder, REPOSITORIES))) {
    for (const line of lines) {
      const { storage, packs, loose } = JSON.parse(line) as BackedUpRepository
      const packFiles = packs.flatMap((pack) => [`${pack}.pack`, `${pack}.idx`])
      for (const name of [...packFiles, ...loose]) {
        needed.add(sharedObjectPath(dir, storage, name))
      }
    }
  }
  for await (const keys of pagesOf(join(folder, BLOBS))) {
    for (const key of keys) needed.add(sharedBlobPath(dir, key))
  }
}

async function removeUnneeded(
  dir: string,
  needed: ReadonlySet<string>,
): Promise<{ readonly files: number; readonly bytes: number }> {
  let files = 0
  let bytes = 0
  for (const shared of ['repositories', 'blobs']) {
    for await (const { path, isFolder } of walk(join(dir, shared))) {
      if (isFolder || needed.has(path)) continue
      bytes += (await stat(path)).size
      files += 1
      await rm(path)
    }
  }
  return { files, bytes }
}
