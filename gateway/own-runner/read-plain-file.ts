/** Reads files whose folders the steps of a job can change. */

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { JobFault } from './job-fault.js'

/** Name of a file in sentences, and the maximum number of its bytes. */
export interface PlainFile {
  readonly name: string
  readonly bytesMax: number
}

/**
 * Reads a file. Returns undefined if it cannot be opened, or is a link. Throws JobFault if it is a
 * pipe, which would never end, or another file that is not plain, or too long.
 */
export async function readPlainFile(
  path: string,
  { name, bytesMax }: PlainFile,
): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new JobFault(`${name} is not a plain file`)
    if (stats.size > bytesMax) throw new JobFault(`${name} is longer than ${bytesMax} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
