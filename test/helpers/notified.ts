/** Waiting for notification jobs. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../sql/database/database.js'

const QUERY_EVERY_MS = 5
const QUERIES_MAX = 4_000

/** Resolves when no notification job is waiting or running. Throws after about 20 s. */
export async function untilAllAreNotified({ db }: { readonly db: Database }): Promise<void> {
  for (let query = 0; query < QUERIES_MAX; query += 1) {
    if ((await db('jobs').where({ kind: 'notify' }).first('id')) === undefined) return
    await sleep(QUERY_EVERY_MS)
  }
  throw new Error('notification jobs are still waiting or running')
}
