/** A bound on git processes that run at once, and a bounded line of those that wait. */

import { Failure } from '../../conf/failures.js'

export interface ProcessQueue {
  /**
   * Waits for a place; the returned function gives it back, and may be called more than once.
   * Throws `unavailable` when the line is full, the wait too long or the client gone.
   */
  enter(signal: AbortSignal): Promise<() => void>
  /** How many hold a place, and how many wait. */
  readonly load: { readonly running: number; readonly waiting: number }
}

export interface ProcessQueueOptions {
  readonly runningMax: number
  readonly waitingMax: number
  readonly waitMs: number
}

const BUSY_MESSAGE = 'The server is busy with other Git requests. Try again in a few seconds.'
const RETRY_AFTER_SECONDS = 5

/** A queue that serves in the order of arrival; its bounds are read anew at each entry. */
export function createProcessQueue(bounds: () => ProcessQueueOptions): ProcessQueue {
  const waiting = new Set<() => void>()
  let running = 0

  function leave(): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      running -= 1
      const [next] = waiting
      next?.()
    }
  }

  function waitForPlace(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        waiting.delete(start)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
      }
      const start = () => {
        settle()
        running += 1
        resolve(leave())
      }
      const giveUp = () => {
        settle()
        reject(busy())
      }
      const timer = setTimeout(giveUp, bounds().waitMs)
      signal.addEventListener('abort', giveUp)
      waiting.add(start)
    })
  }

  return {
    async enter(signal) {
      if (signal.aborted) throw busy()
      if (running < bounds().runningMax) {
        running += 1
        return leave()
      }
      if (waiting.size >= bounds().waitingMax) throw busy()
      return waitForPlace(signal)
    },
    get load() {
      return { running, waiting: waiting.size }
    },
  }
}

function busy(): Failure {
  return new Failure('unavailable', BUSY_MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
