/** The clock of the database server. */

import type { Database } from './database.js'
import { isMysql, selectRows } from './dialect.js'

/** Returns the time of the database server; undefined for SQLite, which has no server. */
export async function findServerTime(db: Database): Promise<number | undefined> {
  if (!isMysql(db)) return undefined
  const [row] = await selectRows<{ seconds: number }>(
    db,
    'select unix_timestamp(now(3)) as seconds',
  )
  return row === undefined ? undefined : Number(row.seconds) * 1_000
}
