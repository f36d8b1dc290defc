/** Flushes the files and folders of repositories, so that they survive a power failure. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import { walk } from './walk.js'

/** Flushes a folder and everything below it. */
export async function syncTree(folder: string): Promise<void> {
  for await (const { path } of walk(folder)) await syncPath(path)
  await syncPath(folder)
}

/**
 * Flushes the folders in which git has created refs or packs since `sinceMs`. Git flushes file
 * contents (core.fsync) but never folders, so the rename that publishes a ref could be lost.
 */
export async function syncRepositoryNames(repository: string, sinceMs: number): Promise<void> {
  const refs = join(repository, 'refs')
  const folders = [join(repository, 'objects', 'pack'), refs, repository]
  for await (const { path, isFolder } of walk(refs)) {
    if (isFolder) folders.push(path)
  }
  for (const folder of folders) {
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found !== undefined && found.mtimeMs >= sinceMs - CLOCK_GRAIN_MS) {
      await unlessMissing(syncPath(folder))
    }
  }
}

/** Flushes a loose object and its folder. A packed object is on disk already. */
export async function syncObject(repository: string, id: string): Promise<void> {
  const objects = join(repository, 'objects')
  const folder = join(objects, id.slice(0, 2))
  // Git before 2.36 does not flush loose objects by `core.fsync`.
  await unlessMissing(syncPath(join(folder, id.slice(2))))
  await unlessMissing(syncPath(folder))
  await syncPath(objects)
}

/** Tolerance for file times, which lag by a tick of the kernel or of a file server. */
const CLOCK_GRAIN_MS = 2_000
