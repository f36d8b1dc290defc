/** Results of the site's backups, those of the server and those of commands. */

import type { Database } from '../database/database.js'

/** `incomplete`: the site had lost stored data before, and the backup has everything else. */
export type BackupOutcome = 'complete' | 'incomplete' | 'failed'

export interface Backup {
  /** Folder of the backup, or the program that read the snapshot. */
  readonly target: string
  readonly startedAtMs: number
  readonly outcome: BackupOutcome
  /** Reason of an outcome that is not `complete`. */
  readonly problem?: string | undefined
}

export interface EndedBackup extends Backup {
  readonly endedAtMs: number
}

const TEXT_LENGTH_MAX = 1_000
const KEPT_MS = 400 * 86_400_000

/** Stores the result of a backup that has just ended, and removes those of 400 days before. */
export async function addBackup(
  db: Database,
  { target, startedAtMs, outcome, problem }: Backup,
): Promise<void> {
  const endedAtMs = Date.now()
  await db('backups').insert({
    target: target.slice(0, TEXT_LENGTH_MAX),
    started_at: startedAtMs,
    ended_at: endedAtMs,
    outcome,
    problem: problem?.slice(0, TEXT_LENGTH_MAX) ?? null,
  })
  await db('backups')
    .where('ended_at', '<', endedAtMs - KEPT_MS)
    .delete()
}

export interface LastBackups {
  readonly last: EndedBackup | undefined
  readonly lastComplete: EndedBackup | undefined
}

/** Returns the last backup, and the last one that has everything. */
export async function findLastBackups(db: Database): Promise<LastBackups> {
  const lastComplete = await findLastBackup(db, { outcomes: ['complete'] })
  const last = await findLastBackup(db, { outcomes: ['complete', 'incomplete', 'failed'] })
  return { last, lastComplete }
}

export interface BackupFilter {
  readonly outcomes: readonly BackupOutcome[]
  /** Target; by default any. */
  readonly target?: string
}

/** Returns the backup that ended last. */
export async function findLastBackup(
  db: Database,
  { outcomes, target }: BackupFilter,
): Promise<EndedBackup | undefined> {
  const found = db('backups').whereIn('outcome', [...outcomes])
  if (target !== undefined) found.where({ target })
  const row = await found.orderBy('id', 'desc').first()
  if (row === undefined) return undefined
  return {
    target: row.target,
    startedAtMs: Number(row.started_at),
    endedAtMs: Number(row.ended_at),
    outcome: row.outcome,
    problem: row.problem ?? undefined,
  }
}
