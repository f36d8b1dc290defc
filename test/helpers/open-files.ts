/** What this process has open: whoever reads a file has to let it go. */

import { readdir, readlink } from 'node:fs/promises'

/** How many files below the folder are open. */
export async function openFilesBelow(folder: string): Promise<number> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return targets.filter((target) => target.startsWith(folder)).length
}
