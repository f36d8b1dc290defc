/** Copies the rows of a database server as of one instant into an SQLite file. */

import type { Settings } from '../../conf/settings.js'
import { closeDatabase, type Database, openDatabase } from './database.js'
import { selectRows, withDatabaseLock } from './dialect.js'
import { migrate } from './migrate.js'

/**
 * Writes the committed rows of now into a new SQLite file with the same schema. Uses connections of
 * its own, and holds the migration lock, because a change of a table ends the view of the instant.
 */
export async function exportDatabase(source: Settings['database'], file: string): Promise<void> {
  // One connection holds the lock, and one reads.
  const from = await openDatabase({ ...source, connectionsMax: 2 })
  try {
    const into = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
    try {
      await migrate(into)
      await into.raw('pragma foreign_keys = off')
      await withDatabaseLock(from, () =>
        from.transaction((instant) => copyTables(instant, into), {
          isolationLevel: 'repeatable read',
        }),
      )
      await refuseOrphans(into)
    } finally {
      await closeDatabase(into)
    }
  } finally {
    await closeDatabase(from)
  }
}

const TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"

/** Copies all tables. The first read fixes the instant of all others. */
async function copyTables(instant: Database, into: Database): Promise<void> {
  for (const { name } of await selectRows<{ name: string }>(into, TABLES)) {
    // Migrations have added rows, which the source has too.
    await into(name).delete()
    await copyTable(instant, into, name)
  }
}

/** Number of values in one statement, below SQLite's limit of 32,766. */
const VALUES_MAX = 10_000
const ROWS_MAX = 500

async function copyTable(instant: Database, into: Database, table: string): Promise<void> {
  let rows: Readonly<Record<string, unknown>>[] = []
  const insert = async () => {
    if (rows.length > 0) await into(table).insert(rows)
    rows = []
  }
  for await (const row of instant(table).select('*').stream()) {
    rows.push(row)
    const values = rows.length * Object.keys(row).length
    if (rows.length === ROWS_MAX || values > VALUES_MAX) await insert()
  }
  await insert()
}

/** Throws an Error if a row refers to a missing one, which the source would have refused. */
async function refuseOrphans(db: Database): Promise<void> {
  const [orphan] = await selectRows<{ table: string; parent: string }>(
    db,
    'pragma foreign_key_check',
  )
  if (orphan === undefined) return
  const { table, parent } = orphan
  throw new Error(`a row of the table ${table} refers to a missing row of ${parent}`)
}
