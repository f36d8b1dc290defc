/** Ports for the servers of tests. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { claimFile } from './claim-file.js'

/** Environment variable with a folder that has a file for each port that the run has used. */
export const PORTS_VARIABLE = 'TEST_PORTS_FOLDER'

/**
 * Range of the returned ports: below the ports that Linux gives to connections and to listeners on
 * port 0 (ip(7), ip_local_port_range), so that none of those takes a port before its server does.
 */
const FIRST_PORT = 10_240
const END_PORT = 32_768

/**
 * Returns a port on which no process listens now. No other test of the run has got it: the workers
 * of two servers that start at the same time would share it.
 */
export async function freePort(): Promise<number> {
  const folder = process.env[PORTS_VARIABLE]
  for (;;) {
    const port = randomInt(FIRST_PORT, END_PORT)
    if (!(await isUnused(port))) continue
    if (folder === undefined || (await claimFile(join(folder, String(port))))) return port
  }
}

async function isUnused(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  } finally {
    probe.close()
  }
}
