/** Looks at what others may change, shared by the answers of one turn of the event loop. */

import { performance } from 'node:perf_hooks'

/**
 * What the loop found ready was on its way before the first look of the turn, so that look says as
 * much as one for each of them. Only what a client sends right behind another request may be read
 * later within the turn, and what became ready meanwhile, where a thousand sockets were ready
 * before: a look counts for less time than it takes to hear of a change and then to ask.
 */
const SHARED_READ_MS_MAX = 0.2

let turn = 0
let startedAtMs = Number.NEGATIVE_INFINITY
let isEndAwaited = false
let isAnswering = false

/** Runs that part of an answer that waits for nothing: its looks are those of the turn. */
export function inTick<T>(work: () => T): T {
  isAnswering = true
  try {
    return work()
  } finally {
    isAnswering = false
  }
}

/**
 * Equal for all whose looks are shared. Undefined where nothing is: what runs after a wait, or in
 * the background, looks for itself.
 */
export function currentTick(): number | undefined {
  if (!isAnswering) return undefined
  const nowMs = performance.now()
  if (nowMs - startedAtMs > SHARED_READ_MS_MAX) {
    turn += 1
    startedAtMs = nowMs
    if (!isEndAwaited) setImmediate(endAwaited)
    isEndAwaited = true
  }
  return turn
}

/** To be told of each change that this process makes: nobody is answered from before it. */
export function endTick(): void {
  startedAtMs = Number.NEGATIVE_INFINITY
}

function endAwaited(): void {
  isEndAwaited = false
  endTick()
}
