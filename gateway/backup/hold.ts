/** Hold on the removers of a site while its data is copied. */

import { beginHold, endHold, HOLD_MS, renewHold } from '../../sql/admin/holds.js'
import type { Database } from '../../sql/database/database.js'

const RENEWAL_MS = 10_000

/**
 * Runs `work` while nothing is removed from the site. Its signal is aborted with the given one, and
 * if the hold ends. Throws an Error if the hold ended meanwhile, for example because the machine
 * was suspended: then copied data may be incomplete.
 */
export async function withHold<T>(
  db: Database,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const id = await beginHold(db, 'backup')
  const lost = new AbortController()
  const renew = async () => {
    // A failed renewal is repeated; if none succeeds in time, the last one finds that it ended.
    const isValid = await renewHold(db, id).catch(() => true)
    if (!isValid) lost.abort(lostError())
  }
  const timer = setInterval(() => void renew(), RENEWAL_MS)
  let isValid = false
  try {
    const result = await work(AbortSignal.any([signal, lost.signal]))
    clearInterval(timer)
    isValid = await endHold(db, id)
    if (!isValid) throw lostError()
    return result
  } finally {
    clearInterval(timer)
    if (!isValid) await endHold(db, id).catch(() => {})
  }
}

function lostError(): Error {
  const seconds = HOLD_MS / 1_000
  const lost = `the backup could not renew its hold within ${seconds} seconds`
  return new Error(`${lost}, so data may have been removed: start it again`)
}
