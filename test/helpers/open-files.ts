/** Files that this process has open, for tests that readers close them. */

import { readdir, readlink } from 'node:fs/promises'

/** Counts the open files below a folder. */
export async function openFilesBelow(folder: string): Promise<number> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return targets.filter((target) => target.startsWith(folder)).length
}
