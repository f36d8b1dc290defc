/** Downloads of package versions by day. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

const DAY_MS = 86_400_000

/** Number of days for which downloads are kept. */
export const DOWNLOAD_DAYS = 90

export interface DailyDownloads {
  /** Day in UTC, as the number of days since 1970-01-01. */
  readonly day: number
  readonly downloads: number
}

/** Returns the day of a time, in UTC. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS)
}

/** Returns the date of a day, such as `2026-11-27`. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Adds the downloads of files to those of their versions today. Deleted files are left out. */
export async function addDailyDownloads(
  trx: Database,
  downloads: ReadonlyMap<number, number>,
): Promise<void> {
  const rows: readonly { id: number; version_id: number }[] = await trx('package_files')
    .whereIn('id', [...downloads.keys()])
    .select('id', 'version_id')
    .orderBy('version_id')
  const day = dayOf(Date.now())
  for (const { id, version_id } of rows) {
    const count = downloads.get(id) ?? 0
    await trx('package_downloads')
      .insert({ version_id, day, downloads: count })
      .onConflict(['version_id', 'day'])
      .merge({ downloads: trx.raw('package_downloads.downloads + ?', [count]) })
  }
}

/** Returns the downloads of all versions of a package, oldest day first; days without any lack. */
export async function listDailyDownloads(
  db: Database,
  packageId: number,
  fromDay: number,
): Promise<readonly DailyDownloads[]> {
  const rows = await selectRows<{ day: number; downloads: number }>(
    db,
    `select d.day as day, sum(d.downloads) as downloads from package_versions v
      join package_downloads d on d.version_id = v.id
      where v.package_id = ? and d.day >= ? group by d.day order by d.day`,
    [packageId, fromDay],
  )
  return rows.map(({ day, downloads }) => ({ day, downloads: Number(downloads) }))
}

/** Deletes the downloads of days that are no longer kept. */
export async function deleteOldDownloads(db: Database, nowMs = Date.now()): Promise<void> {
  await db('package_downloads')
    .where('day', '<', dayOf(nowMs) - DOWNLOAD_DAYS)
    .delete()
}
