/** Copies of a database as of one instant, while other processes write to it. */

import { chmod } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { syncPath } from '../../conf/lib/disk.js'

/** Module of the thread, in the folder of this one, also after bundling. */
const THREAD = new URL('./snapshot-thread.js', import.meta.url)

/**
 * Writes the committed rows of now into a new SQLite file, and flushes it. Works in a thread,
 * because the driver blocks its caller for the whole copy. Throws an Error for a server database.
 */
export async function snapshotDatabase(location: DatabaseLocation, file: string): Promise<void> {
  if (location.kind !== 'sqlite') {
    throw new Error('only sites with an SQLite database can be backed up: use mariadb-dump')
  }
  const workerData = { from: location.file, into: file }
  const thread = new Worker(THREAD, { workerData, env: {}, execArgv: [] })
  await new Promise<void>((resolve, reject) => {
    thread.once('error', reject)
    thread.once('exit', () => resolve())
  })
  await chmod(file, 0o600)
  await syncPath(file)
}
