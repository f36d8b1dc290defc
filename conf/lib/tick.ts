/** Sharing of reads of mutable state among the requests of one event-loop tick. */

import { performance } from 'node:perf_hooks'

/**
 * Maximum time for which a read is shared. The requests of a tick arrived before the first read of
 * that tick, so the read is as current as separate reads would be. There are two exceptions:
 * requests that a client pipelines behind another one, and sockets that become ready during a long
 * tick. For these the limit is shorter than the time that a client needs to learn of a change and
 * to send a request.
 */
const SHARED_READ_MS_MAX = 0.2

let tick = 0
let startedAtMs = Number.NEGATIVE_INFINITY
let isEndAwaited = false
let isAnswering = false

/** Runs the synchronous part of a request handler, in which reads are shared. */
export function inTick<T>(work: () => T): T {
  isAnswering = true
  try {
    return work()
  } finally {
    isAnswering = false
  }
}

/**
 * Lets the code that waited for a read share its own reads, until no microtask is left. That is
 * permitted only if all of this code belongs to requests that arrived before the read began.
 */
export function shareUntilNextWait(): void {
  isAnswering = true
  // Runs when no microtask is left.
  process.nextTick(() => {
    isAnswering = false
  })
}

/**
 * Returns the number of the current tick, which is equal for all calls that may share reads.
 * Returns undefined outside of `inTick` and of the code after `shareUntilNextWait`: code after
 * another `await` must read again.
 */
export function currentTick(): number | undefined {
  if (!isAnswering) return undefined
  const nowMs = performance.now()
  if (nowMs - startedAtMs > SHARED_READ_MS_MAX) {
    tick += 1
    startedAtMs = nowMs
    if (!isEndAwaited) setImmediate(endAwaited)
    isEndAwaited = true
  }
  return tick
}

/** Ends the sharing. Must be called after each change by this process, so that no read is stale. */
export function endTick(): void {
  startedAtMs = Number.NEGATIVE_INFINITY
}

function endAwaited(): void {
  isEndAwaited = false
  endTick()
}
