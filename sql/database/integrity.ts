/** Checks of the database itself: its pages, and rows that name missing rows. */

import type { Database } from './database.js'
import { isMysql, selectRows } from './dialect.js'

/** A foreign key of rows whose referenced row is missing. */
export interface OrphanGroup {
  readonly table: string
  /** Table of the missing rows. */
  readonly parent: string
  readonly rows: number
}

/** Returns what SQLite finds wrong with the file of the database; empty on MySQL. */
export async function findDamagedPages(db: Database, isDeep: boolean): Promise<readonly string[]> {
  if (isMysql(db)) return []
  const pragma = isDeep ? 'integrity_check' : 'quick_check'
  const rows = await selectRows<Readonly<Record<string, string>>>(db, `pragma ${pragma}(20)`)
  return rows.flatMap((row) => Object.values(row)).filter((text) => text !== 'ok')
}

/** Returns the foreign keys that rows break, by table and referenced table. */
export async function findOrphans(db: Database): Promise<readonly OrphanGroup[]> {
  return isMysql(db) ? await findOrphansOfMysql(db) : await findOrphansOfSqlite(db)
}

async function findOrphansOfSqlite(db: Database): Promise<readonly OrphanGroup[]> {
  return await selectRows<OrphanGroup>(
    db,
    `select "table" as "table", parent, count(*) as rows from pragma_foreign_key_check
      group by "table", parent order by "table", parent`,
  )
}

interface ForeignKey {
  readonly child: string
  readonly childColumn: string
  readonly parent: string
  readonly parentColumn: string
}

/** Queries each foreign key, all of which have one column. */
async function findOrphansOfMysql(db: Database): Promise<readonly OrphanGroup[]> {
  const keys = await selectRows<ForeignKey>(
    db,
    `select table_name as child, column_name as childColumn, referenced_table_name as parent,
      referenced_column_name as parentColumn from information_schema.key_column_usage
      where table_schema = database() and referenced_table_name is not null
      order by table_name, constraint_name`,
  )
  const groups: OrphanGroup[] = []
  for (const { child, childColumn, parent, parentColumn } of keys) {
    const [found] = await selectRows<{ orphans: number }>(
      db,
      `select count(*) as orphans from ${child} c where c.${childColumn} is not null and not exists
        (select 1 from ${parent} p where p.${parentColumn} = c.${childColumn})`,
    )
    const rows = Number(found?.orphans ?? 0)
    if (rows > 0) groups.push({ table: child, parent, rows })
  }
  return groups
}
