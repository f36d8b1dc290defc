/** Measurement of event loop delays; logs the routes that ran during a long one. */

import { performance } from 'node:perf_hooks'
import type { Log } from '../../conf/log.js'
import type { Found } from './route-table.js'

/** Part of a request that the watch needs. */
export interface Watched {
  readonly found: Found | undefined
}

export interface LoopWatch {
  /** Records a request before its handler runs. Allocates nothing. */
  begin(request: Watched): void
  /** Records that the handler is asynchronous: until `end` it may continue in any later tick. */
  wait(request: Watched): void
  end(request: Watched): void
  stop(): void
}

export interface LoopWatchOptions {
  readonly log: Log
  /** Called for each tick of the watch with its delay. */
  readonly observe: (seconds: number) => void
  /** Monotonic clock in milliseconds; by default that of `performance`. */
  readonly now?: () => number
}

/**
 * Interval of the timer. It stops after one interval without a request: a worker between two
 * requests of a client would spend more on ticks than on the requests.
 */
const TICK_MS = 20

const SLOW_MS = 100
const LOG_EVERY_MS = 10_000

/** Upper bound of a delay; a longer one means that the machine was suspended. */
const DELAY_MS_MAX = 60_000

/** Maximum number of requests of one tick that are remembered; a power of two. */
const RECENT_MAX = 64

/** Watches the event loop of this process while there are requests. */
export function watchLoop({ log, observe, now = readClock }: LoopWatchOptions): LoopWatch {
  const recent: Array<Found | undefined> = new Array(RECENT_MAX)
  const waiting = new Set<Watched>()
  let recentCount = 0
  let lastMs = 0
  let loggedMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function wake(): void {
    lastMs = now()
    timer = setInterval(tick, TICK_MS).unref()
  }

  function tick(): void {
    const nowMs = now()
    const delayMs = Math.min(Math.max(0, nowMs - lastMs - TICK_MS), DELAY_MS_MAX)
    lastMs = nowMs
    // Skipped ticks count as well: a request that arrived at one waited for the rest of the delay.
    for (let ms = delayMs; ms >= 0; ms -= TICK_MS) observe(ms / 1_000)
    if (delayMs > SLOW_MS) logDelay(nowMs, delayMs)
    if (recentCount + waiting.size === 0) stop()
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
      if (timer === undefined) wake()
      recent[recentCount & (RECENT_MAX - 1)] = found
      recentCount += 1
    },
    wait: (request) => waiting.add(request),
    end: (request) => waiting.delete(request),
    stop,
  }
}

function readClock(): number {
  return performance.now()
}

function nameOf(found: Found | undefined): string {
  if (found === undefined || !('route' in found)) return 'unknown'
  return `${found.route.method} ${found.route.path}`
}
