/** Measurement of event loop delays; logs the routes that ran during a long one. */

import type { Log } from '../../conf/log.js'
import type { Found } from './route-table.js'

/** Part of a request that the watch needs. */
export interface Watched {
  readonly found: Found | undefined
}

export interface LoopWatch {
  /** Records a request before its handler runs. */
  begin(request: Watched): void
  /** Records that the handler is asynchronous: until `end` it may continue in any later tick. */
  wait(request: Watched): void
  end(request: Watched): void
  stop(): void
}

export interface LoopWatchOptions {
  readonly log: Log
  /** Called for each measured delay; for a long one, several times. */
  readonly observe: (seconds: number) => void
}

/**
 * Interval of the timer, which runs only while a request waits. A worker between two requests of a
 * client would spend more on ticks than on the requests.
 */
const TICK_MS = 20

const SLOW_MS = 100
const LOG_EVERY_MS = 10_000

/** Upper bound of a delay; a longer one means that the machine was suspended. */
const DELAY_MS_MAX = 60_000

/** Maximum number of requests of one tick that are remembered; a power of two. */
const RECENT_MAX = 64

/**
 * Watches the event loop of this process while there are requests. The requests of one turn of the
 * loop are measured together, from the start of the first to the end of the turn. While a request
 * waits, a timer measures how late it is called.
 */
export function watchLoop({ log, observe }: LoopWatchOptions): LoopWatch {
  const recent: Array<Found | undefined> = new Array(RECENT_MAX)
  const waiting = new Set<Watched>()
  let recentCount = 0
  let isMeasured = false
  let lastMs = 0
  let loggedMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function endTurn(): void {
    isMeasured = false
    const nowMs = performance.now()
    record(nowMs, nowMs - lastMs)
    if (waiting.size > 0) timer = setInterval(tick, TICK_MS).unref()
  }

  function tick(): void {
    const nowMs = performance.now()
    record(nowMs, nowMs - lastMs - TICK_MS)
    if (waiting.size === 0) stop()
  }

  function record(nowMs: number, measuredMs: number): void {
    const delayMs = Math.min(Math.max(0, measuredMs), DELAY_MS_MAX)
    lastMs = nowMs
    // A request that arrived during a long delay waited for the rest of it.
    for (let ms = delayMs; ms >= 0; ms -= TICK_MS) observe(ms / 1_000)
    if (delayMs > SLOW_MS) logDelay(nowMs, delayMs)
    recentCount = 0
  }

  function logDelay(nowMs: number, delayMs: number): void {
    if (nowMs - loggedMs < LOG_EVERY_MS) return
    loggedMs = nowMs
    const began = recent.slice(0, Math.min(recentCount, RECENT_MAX))
    const found = [...began, ...[...waiting].map((request) => request.found)]
    const routes = [...new Set(found.map(nameOf))]
    log.warn({ delayMs: Math.round(delayMs), routes }, 'the event loop was late')
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    begin({ found }) {
      if (timer === undefined && !isMeasured) {
        isMeasured = true
        lastMs = performance.now()
        setImmediate(endTurn)
      }
      recent[recentCount & (RECENT_MAX - 1)] = found
      recentCount += 1
    },
    wait: (request) => waiting.add(request),
    end: (request) => waiting.delete(request),
    stop,
  }
}

function nameOf(found: Found | undefined): string {
  if (found === undefined || !('route' in found)) return 'unknown'
  return `${found.route.method} ${found.route.path}`
}
