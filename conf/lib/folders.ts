/** Creation of the folders that settings name. */

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { unlessMissing } from './disk.js'

interface FolderOptions {
  readonly mode: number
  /** Name of the setting, such as `data.dir`. */
  readonly setting: string
}

/**
 * Creates a folder with its parents, and returns those that did not exist, outermost first. Throws
 * an Error that names the setting if this is impossible.
 */
export async function createFolder(
  folder: string,
  { mode, setting }: FolderOptions,
): Promise<readonly string[]> {
  const created: string[] = []
  try {
    for (const path of await missingFolders(folder)) {
      await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      created.push(path)
    }
    if (!(await stat(folder)).isDirectory()) throw new Error('it is a file')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `the folder ${folder} cannot be created (${reason}): set ${setting} to a folder that this user may write`,
    )
  }
  return created
}

/** Node.js's recursive `mkdir` does not end below /proc, where no folder can be created. */
async function missingFolders(folder: string): Promise<readonly string[]> {
  const missing: string[] = []
  let path = folder
  while ((await unlessMissing(stat(path))) === undefined) {
    missing.unshift(path)
    path = dirname(path)
  }
  return missing
}
