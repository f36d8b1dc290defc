/** Files of the runner in the folder of a step, in which other processes of the job may write. */

import { constants } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { JobFault } from './job-fault.js'

/**
 * Calls `use` with a path of the folder that stays the same folder, whatever a process of the job
 * puts in its place meanwhile. Throws JobFault if a link or nothing is there.
 */
export async function inStepFolder<T>(
  folder: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined)
  if (handle === undefined) throw new JobFault('the folder of the step was removed')
  try {
    return await use(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle.close()
  }
}

/** Writes a new file in the folder of a step. Rejects if there is a file or a link. */
export async function writeNewFile(folder: string, name: string, text: string): Promise<void> {
  await inStepFolder(folder, (path) => writeFile(`${path}/${name}`, text, { flag: 'wx' }))
}
