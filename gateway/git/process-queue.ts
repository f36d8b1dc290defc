/** A bound on git processes that run at once, and a bounded line of those that wait. */

import { Failure } from '../../conf/failures.js'

export interface ProcessQueue {
  /**
   * Waits for a place; the returned function gives it back, and may be called more than once. The
   * repositories that wait take turns, so that one with many requests does not hold up the others.
   * Throws `unavailable` when the line is full, the wait too long or the client gone.
   */
  enter(signal: AbortSignal, repository: string): Promise<() => void>
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

/** Serves each repository in the order of arrival; the bounds are read at each entry. */
export function createProcessQueue(bounds: () => ProcessQueueOptions): ProcessQueue {
  /** By repository; the one whose turn is next comes first. */
  const lines = new Map<string, Set<() => void>>()
  let running = 0
  let waiting = 0

  function stand(repository: string, start: () => void): void {
    const line = lines.get(repository) ?? new Set()
    lines.set(repository, line.add(start))
    waiting += 1
  }

  function stepOut(repository: string, start: () => void): void {
    const line = lines.get(repository)
    if (line?.delete(start)) waiting -= 1
    if (line?.size === 0) lines.delete(repository)
  }

  function startNext(): void {
    const [first] = lines
    if (first === undefined) return
    const [repository, line] = first
    lines.delete(repository)
    lines.set(repository, line)
    const [start] = line
    start?.()
  }

  function leave(): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      running -= 1
      startNext()
    }
  }

  function waitForPlace(signal: AbortSignal, repository: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        stepOut(repository, start)
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
      stand(repository, start)
    })
  }

  return {
    async enter(signal, repository) {
      if (signal.aborted) throw busy()
      if (running < bounds().runningMax) {
        running += 1
        return leave()
      }
      if (waiting >= bounds().waitingMax) throw busy()
      return waitForPlace(signal, repository)
    },
    get load() {
      return { running, waiting }
    },
  }
}

function busy(): Failure {
  return new Failure('unavailable', BUSY_MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
