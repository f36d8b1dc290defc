/** Yielding in long work without I/O, so that the event loop serves other requests. */

import { setImmediate as nextTick } from 'node:timers/promises'

const SLICE_MS = 20

/**
 * Returns a function that long work awaits between its steps. It lets the event loop run if 20 ms
 * have passed since the last time.
 */
export function createYielder(now: () => number = () => performance.now()): () => Promise<void> {
  let since = now()
  return async () => {
    if (now() - since < SLICE_MS) return
    await nextTick()
    since = now()
  }
}
