/** Check of `gatehouse doctor` on the age and the result of the last backup. */

import type { Settings } from '../../conf/settings.js'
import { findLastBackups, type LastBackups } from '../../sql/admin/backups.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'

const HOUR_MS = 3_600_000

/** Throws an Error if the last backup has a fault, or if the last good one is too old. */
export async function checkBackups({ database, backup }: Settings): Promise<string> {
  const { last, lastComplete } = await readBackups(database)
  if (last === undefined) {
    if (backup.dir === undefined) return 'none was made (see docs/backup.md)'
    throw new Error(
      `none was made in ${backup.dir} yet: see the job back-up-site of the running server on the page /admin/jobs`,
    )
  }
  const ageMs = lastComplete && Date.now() - lastComplete.startedAtMs
  const good = ageMs === undefined ? 'none is good' : `the last good one is ${hoursOf(ageMs)} old`
  if (last.outcome === 'failed') {
    throw new Error(`the last one, in ${last.target}, failed (${last.problem}); ${good}`)
  }
  if (last.outcome === 'incomplete') {
    throw new Error(
      `the last one, in ${last.target}, lacks lost data (${last.problem}); ${good}: run 'gatehouse check'`,
    )
  }
  if (ageMs !== undefined && ageMs > 2 * backup.everyMs) {
    throw new Error(
      `${good}, but backup.every is ${hoursOf(backup.everyMs)}: see why the server or cron makes none`,
    )
  }
  return `${good}, in ${last.target}`
}

async function readBackups(database: Settings['database']): Promise<LastBackups> {
  const db = await openDatabase(database)
  try {
    return await findLastBackups(db)
  } finally {
    await closeDatabase(db)
  }
}

function hoursOf(durationMs: number): string {
  return `${Math.round(durationMs / HOUR_MS)} h`
}
