/** Waits until everybody has been told of what happened. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../sql/database/database.js'

const LOOK_EVERY_MS = 5
const LOOKS_MAX = 4_000

/** Settles when no job waits or runs that tells people. Throws when there are some after long. */
export async function untilAllAreNotified({ db }: { readonly db: Database }): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if ((await db('jobs').where({ kind: 'notify' }).first('id')) === undefined) return
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error('people are not told')
}
