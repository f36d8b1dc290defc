/** Ports for the servers of tests. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'

/** Environment variable with a folder that has a file for each port that the run has used. */
export const PORTS_VARIABLE = 'TEST_PORTS_FOLDER'

/**
 * Returns a port on which no process listens now. No other test of the run has got it: the workers
 * of two servers that start at the same time would share it.
 */
export async function freePort(): Promise<number> {
  const folder = process.env[PORTS_VARIABLE]
  for (;;) {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    await once(probe, 'close')
    if (folder === undefined || (await isNew(join(folder, String(port))))) return port
  }
}

async function isNew(path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
