/** Query plans of the database, for tests of indexes. */

import type { Database } from '../../sql/database/database.js'
import { isMysql, selectRows } from '../../sql/database/dialect.js'

/** Returns the query plans of all queries that `ask` sends, as a text. */
export async function plansOf(
  db: Database,
  ask: (trx: Database) => Promise<unknown>,
): Promise<string> {
  return await db.transaction(async (trx) => {
    const asked: { sql: string; bindings: string[] }[] = []
    const note = (query: { sql: string; bindings: string[] }) => asked.push(query)
    trx.on('query', note)
    await ask(trx)
    trx.removeListener('query', note)
    const explain = isMysql(db) ? 'explain' : 'explain query plan'
    const plans = asked.map(({ sql, bindings }) => selectRows(trx, `${explain} ${sql}`, bindings))
    return JSON.stringify(await Promise.all(plans))
  })
}
