/** A folder beside a repository's objects, in which git writes what is kept whole or not at all. */

import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Quarantine {
  readonly folder: string
  /** Variables with which git writes there and reads the objects of the repository as well. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Runs `use` with a new quarantine of the repository at `path` and removes it afterwards, with all
 * that `use` has not moved out of it. What a crash leaves of it, the sweeper removes.
 */
export async function withQuarantine<T>(
  path: string,
  use: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  const objects = join(path, 'objects')
  // By the name under which git itself keeps what it has not accepted yet, and the sweeper knows.
  const folder = join(objects, `tmp_objdir-incoming-${randomBytes(6).toString('hex')}`)
  await mkdir(folder)
  try {
    const variables = {
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    }
    return await use({ folder, variables })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
