/** Makes what the disk holds survive a loss of power: contents by file, names by folder. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/disk.js'
import { walk } from './walk.js'

/** Flushes a folder with all that it holds. */
export async function syncTree(folder: string): Promise<void> {
  for await (const { path } of walk(folder)) await syncPath(path)
  await syncPath(folder)
}

/**
 * Flushes the names of the references and packs that git wrote since then. Git flushes contents
 * (core.fsync) but never folders, so the rename that publishes a reference could be lost.
 */
export async function syncRepositoryNames(repository: string, sinceMs: number): Promise<void> {
  const refs = join(repository, 'refs')
  const folders = [join(repository, 'objects', 'pack'), refs, repository]
  for await (const { path, isFolder } of walk(refs)) {
    if (isFolder) folders.push(path)
  }
  for (const folder of folders) {
    const found = await unlessMissing(stat(folder))
    if (found !== undefined && found.mtimeMs >= sinceMs - CLOCK_GRAIN_MS) {
      await unlessMissing(syncPath(folder))
    }
  }
}

/** Flushes one loose object and its name. One that lies in a pack is on the disk already. */
export async function syncObject(repository: string, id: string): Promise<void> {
  const objects = join(repository, 'objects')
  const folder = join(objects, id.slice(0, 2))
  // Git knows from 2.36 on that loose objects are to be flushed.
  await unlessMissing(syncPath(join(folder, id.slice(2))))
  await unlessMissing(syncPath(folder))
  await syncPath(objects)
}

/** File times come from a clock that lags behind by a tick of the kernel, or of a file server. */
const CLOCK_GRAIN_MS = 2_000
