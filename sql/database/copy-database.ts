/** Copies all rows of a database into another one, between SQLite files and database servers. */

import type { Settings } from '../../conf/settings.js'
import { closeDatabase, type Database, openDatabase } from './database.js'
import { isMysql, selectRows, withDatabaseLock } from './dialect.js'
import { migrate } from './migrate.js'

/**
 * Writes the committed rows of now into a new SQLite file with the same schema. Uses connections of
 * its own, and holds the migration lock, because a change of a table ends the view of the instant.
 */
export async function exportDatabase(
  source: Settings['database'],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  // Two connections: for the lock, and for the reads.
  const from = await openDatabase({ ...source, connectionsMax: 2 })
  try {
    const into = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
    try {
      await migrate(into)
      await into.raw('pragma foreign_keys = off')
      await withDatabaseLock(from, () =>
        from.transaction((instant) => copyTables(instant, into, { sqlite: into, signal }), {
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

/** Opens a database server. Throws an Error if the database has a table already. */
export async function openEmptyDatabase(settings: Settings['database']): Promise<Database> {
  const db = await openDatabase(settings)
  const [found] = await selectRows<{ name: string }>(
    db,
    'select table_name as name from information_schema.tables where table_schema = database()',
  )
  if (found === undefined) return db
  await closeDatabase(db)
  throw new Error(`the database has the table ${found.name}: create an empty one`)
}

/** Creates the tables in an empty database server, and copies all rows of an SQLite file. */
export async function importDatabase(from: Database, into: Database): Promise<void> {
  await migrate(into)
  await into.transaction(async (trx) => {
    await trx.raw('set foreign_key_checks = 0')
    try {
      await copyTables(from, trx, { sqlite: from })
    } finally {
      await trx.raw('set foreign_key_checks = 1')
    }
  })
}

const TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"

interface Copying {
  readonly sqlite: Database
  readonly signal?: AbortSignal
}

/** Copies the tables that SQLite lists. The first read of a transaction fixes its instant. */
async function copyTables(
  from: Database,
  into: Database,
  { sqlite, signal }: Copying,
): Promise<void> {
  for (const { name } of await selectRows<{ name: string }>(sqlite, TABLES)) {
    // Migrations have added rows, which the source has too.
    await into(name).delete()
    await copyTable(from, into, { table: name, signal })
  }
}

type Row = Readonly<Record<string, unknown>>

/** Number of values in one statement, below SQLite's limit of 32,766. */
const VALUES_MAX = 10_000
/** Size of the texts and bytes in one statement, below the default limit of MariaDB, 16 MiB. */
const BYTES_MAX = 4_194_304

async function copyTable(
  from: Database,
  into: Database,
  { table, signal }: { readonly table: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  let rows: Row[] = []
  let values = 0
  let bytes = 0
  const insert = async () => {
    signal?.throwIfAborted()
    if (rows.length > 0) await into(table).insert(rows)
    rows = []
    values = 0
    bytes = 0
  }
  for await (const row of isMysql(from) ? streamed(from, table) : paged(from, table)) {
    const size = sizeOf(row)
    if (values > VALUES_MAX || bytes + size > BYTES_MAX) await insert()
    rows.push(row)
    values += Object.keys(row).length
    bytes += size
  }
  await insert()
}

function sizeOf(row: Row): number {
  let bytes = 0
  for (const value of Object.values(row)) {
    if (typeof value === 'string' || Buffer.isBuffer(value)) bytes += Buffer.byteLength(value)
  }
  return bytes
}

async function* streamed(db: Database, table: string): AsyncGenerator<Row> {
  yield* db(table).select('*').stream()
}

const PAGE = 500

/** Yields the rows of an SQLite table in pages, because its driver returns whole results. */
async function* paged(db: Database, table: string): AsyncGenerator<Row> {
  // Accounts of the server itself have negative ids.
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const page: readonly (Row & { readonly row_number: number })[] = await db(table)
      .select('*', db.raw('rowid as row_number'))
      .where(db.raw('rowid'), '>', after)
      .orderBy('row_number')
      .limit(PAGE)
    for (const { row_number, ...row } of page) {
      after = row_number
      yield row
    }
    if (page.length < PAGE) return
  }
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
