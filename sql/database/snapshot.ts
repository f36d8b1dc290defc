/** Copies of a database as of one instant, while other processes write to it. */

import { chmod } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { syncPath } from '../../conf/lib/disk.js'
import type { Settings } from '../../conf/settings.js'
import { exportDatabase } from './copy-database.js'

/** Module of the thread, in the folder of this one, also after bundling. */
const THREAD = new URL('./snapshot-thread.js', import.meta.url)

/** Writes the committed rows of now into a new SQLite file, and flushes it. */
export async function snapshotDatabase(
  source: Settings['database'],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  if (source.location.kind === 'sqlite') await copyInThread(source.location.file, file, signal)
  else await exportDatabase(source, file, signal)
  await chmod(file, 0o600)
  await syncPath(file)
}

/**
 * Copies in a thread, because the driver blocks its caller for the whole copy. An abort does not
 * wait for the thread, which ends after the copy.
 */
async function copyInThread(from: string, into: string, signal: AbortSignal): Promise<void> {
  const thread = new Worker(THREAD, { workerData: { from, into }, env: {}, execArgv: [] })
  await new Promise<void>((resolve, reject) => {
    thread.once('error', reject)
    thread.once('exit', () => resolve())
    signal.addEventListener('abort', () => {
      thread.unref()
      reject(signal.reason)
    })
  })
}
