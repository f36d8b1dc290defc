/** Long work that waits for nothing, and still lets other requests have their turn. */

import { setImmediate as nextTurn } from 'node:timers/promises'

const TURN_MS = 20

/** To be awaited between any two steps: it waits only when others have waited long enough. */
export function createTurns(now: () => number = () => performance.now()): () => Promise<void> {
  let since = now()
  return async () => {
    if (now() - since < TURN_MS) return
    await nextTurn()
    since = now()
  }
}
