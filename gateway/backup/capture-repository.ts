/** Copies a repository of a running site into a backup. */

import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { captureObjects } from '../../cgi/repository/captured-objects.js'
import { captureReferences } from '../../cgi/repository/captured-references.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import type { CapturedRepository } from '../../cgi/repository/rebuild.js'
import { repositoryExists } from '../../cgi/repository/repository.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { sharedObjectPath } from './layout.js'
import type { SharedFiles } from './shared-files.js'

/** Line of the list of repositories. */
export interface BackedUpRepository extends CapturedRepository {
  readonly storage: string
}

interface Capture {
  readonly dataDir: string
  /** Folder of the backup. */
  readonly dir: string
  readonly files: SharedFiles
}

/**
 * Copies the references and then the objects of a repository; in the other order, references of a
 * push in between would miss their objects. A repository that is deleted meanwhile is copied from
 * the folder to which the deletion has renamed it. Returns undefined if there is no folder.
 */
export async function captureRepository(
  { dataDir, dir, files }: Capture,
  { storage, objectFormat }: Repository,
): Promise<BackedUpRepository | undefined> {
  for (;;) {
    const path = await findFolder(repositoryPath(dataDir, storage))
    if (path === undefined) return undefined
    try {
      const references = await captureReferences(path)
      const objects = await captureObjects(path, (source, name) =>
        files.addFile(source, sharedObjectPath(dir, storage, name)),
      )
      if (await repositoryExists(path)) return { storage, objectFormat, ...references, ...objects }
    } catch (error) {
      if (await repositoryExists(path)) throw error
    }
  }
}

/** Returns the folder of a repository, or that of a deleted one; undefined if there is none. */
async function findFolder(path: string): Promise<string | undefined> {
  if (await repositoryExists(path)) return path
  const names = (await unlessMissing(readdir(dirname(path)))) ?? []
  const trash = names.find((name) => name.startsWith(`${basename(path)}.trash-`))
  return trash === undefined ? undefined : join(dirname(path), trash)
}
