/** Database migration at the start of a server, with log lines. */

import type { Log } from '../conf/log.js'
import type { Database } from '../sql/database/database.js'
import { migrate, migrationStatus } from '../sql/database/migrate.js'

/** Applies missing migrations. Logs each at level debug, and one line in all if there were any. */
export async function migrateDatabase(db: Database, log: Log): Promise<void> {
  const startedAtMs = Date.now()
  const names = await migrate(db)
  if (names.length === 0) return
  const durationMs = Date.now() - startedAtMs
  for (const name of names) log.debug({ migration: name }, 'a migration was applied')
  log.info(
    { migrations: names.length, first: names[0], last: names.at(-1), durationMs },
    'the database was migrated',
  )
}

/** True if this program has migrations that the database lacks. */
export async function isBehind(db: Database): Promise<boolean> {
  return (await migrationStatus(db)).some(({ appliedAtMs }) => appliedAtMs === undefined)
}
