/** Quarantines: temporary object directories of repositories, whose objects are kept or dropped. */

import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Quarantine {
  readonly folder: string
  /** Environment with which git writes to the folder and also reads the repository's objects. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Runs `use` with a new quarantine of the repository at `path`. Afterwards, removes the quarantine
 * and all objects that `use` has not moved out of it. After a crash, the sweeper removes it.
 */
export async function withQuarantine<T>(
  path: string,
  use: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  const objects = join(path, 'objects')
  // Git uses this name for its own quarantines, and the sweeper recognizes it.
  const folder = join(objects, `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  mkdirSync(folder)
  try {
    const variables = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    }
    return await use({ folder, variables })
  } finally {
    if (!removeEmpty(folder)) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Removes a folder with its empty folders, synchronously; false if one of them is not empty. */
function removeEmpty(folder: string): boolean {
  try {
    for (const name of readdirSync(folder)) rmdirSync(join(folder, name))
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}
