/** Backups whose result is stored, for `/metrics` and `gatehouse doctor`. */

import { resolve } from 'node:path'
import { addBackup, type Backup } from '../../sql/admin/backups.js'
import type { Snapshot } from './layout.js'
import { type BackupContext, takeBackup } from './take-backup.js'

/** Adds a snapshot to the folder and stores the result, unless the signal aborts it. */
export async function takeRecordedBackup(
  context: BackupContext,
  dir: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { db } = context
  const started = { target: resolve(dir), startedAtMs: Date.now() }
  try {
    const snapshot = await takeBackup(context, dir, signal)
    await addBackup(db, { ...started, ...outcomeOf(snapshot) })
    return snapshot
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    // An unavailable database may be the reason of the failure.
    if (!signal.aborted) {
      await addBackup(db, { ...started, outcome: 'failed', problem }).catch(() => {})
    }
    throw error
  }
}

/** Returns the outcome of a backup that has this snapshot. */
export function outcomeOf({ manifest }: Snapshot): Pick<Backup, 'outcome' | 'problem'> {
  const { problems } = manifest
  const [first] = problems
  if (first === undefined) return { outcome: 'complete' }
  return { outcome: 'incomplete', problem: `${problems.length} missing: ${first}` }
}
