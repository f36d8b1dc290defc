/** Files by which several processes share things, each of which only one of them takes. */

import { writeFile } from 'node:fs/promises'

/** Creates a file. Returns false if it exists, because another process has created it. */
export async function claimFile(path: string, content = ''): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
