/** A limit on concurrent git processes, in total and for each client, with a queue of requests. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../conf/failures.js'
import { WaitEstimate } from './wait-estimate.js'
import { WaitingLines } from './waiting-lines.js'

/** A request for a slot: the client and the repository of the git process. */
export interface Visitor {
  readonly repository: string
  /** Key of the client, equal for all its requests. */
  readonly client: string
}

export interface ProcessQueue {
  /**
   * Waits for a slot. The returned function frees the slot and may be called more than once. Slots
   * go to the waiting repositories in rotation, so that a repository with many requests does not
   * delay the others. Throws `throttled` if the client has `clientMax` requests already. Throws
   * `unavailable` if the queue is full, the wait exceeds `waitMs` or the signal aborts. Throws
   * `unavailable` immediately if the estimated wait exceeds `waitMs`.
   */
  enter(signal: AbortSignal, visitor: Visitor): Promise<() => void>
  /** Numbers of requests that hold a slot and that wait for one. */
  readonly load: { readonly running: number; readonly waiting: number }
}

export interface ProcessQueueOptions {
  readonly runningMax: number
  readonly waitingMax: number
  readonly waitMs: number
  /** Maximum requests of one client that run or wait. */
  readonly clientMax: number
}

const BUSY_MESSAGE = 'The server is busy with other Git requests. Try again in a few seconds.'
const CLIENT_MESSAGE =
  'You have too many Git requests running or waiting. Try again when some of them have ended.'
const RETRY_AFTER_SECONDS = 5
const RETRY_AFTER_SECONDS_MAX = 120

/**
 * Creates a queue that serves the requests of each repository in order of arrival. It reads the
 * limits at each entry. It calls `onWaited` with the waiting time when it gives a slot.
 */
export function createProcessQueue(
  bounds: () => ProcessQueueOptions,
  onWaited: (seconds: number) => void = () => {},
): ProcessQueue {
  const lines = new WaitingLines()
  /** Number of requests of each client that run or wait. */
  const held = new Map<string, number>()
  const estimate = new WaitEstimate()
  let running = 0

  /** Throws `unavailable` if the estimated wait exceeds `waitMs`. */
  function refuseLongWait(repository: string): void {
    const { runningMax: placesMax, waitMs } = bounds()
    const aheadCount = lines.countAhead(repository)
    const expectedMs = estimate.waitMs(performance.now(), { aheadCount, placesMax }) ?? 0
    if (expectedMs <= waitMs) return
    throw refusal('unavailable', BUSY_MESSAGE, Math.ceil((expectedMs - waitMs) / 1_000))
  }

  function startNext(): void {
    const next = lines.next()
    if (next === undefined) estimate.end()
    else estimate.note(performance.now(), bounds().runningMax)
    next?.()
  }

  function start(client: string, waitedMs: number): () => void {
    running += 1
    if (running >= bounds().runningMax) estimate.begin(performance.now())
    onWaited(waitedMs / 1_000)
    let isFreed = false
    return () => {
      if (isFreed) return
      isFreed = true
      running -= 1
      add(held, client, -1)
      startNext()
    }
  }

  function waitForSlot(signal: AbortSignal, { repository, client }: Visitor): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const arrivedAtMs = performance.now()
      const settle = () => {
        lines.remove(repository, takeSlot)
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
      }
      const takeSlot = () => {
        settle()
        resolve(start(client, performance.now() - arrivedAtMs))
      }
      const giveUp = () => {
        settle()
        add(held, client, -1)
        reject(refusal('unavailable', BUSY_MESSAGE))
      }
      const timer = setTimeout(giveUp, bounds().waitMs)
      signal.addEventListener('abort', giveUp)
      lines.add(repository, takeSlot)
    })
  }

  return {
    async enter(signal, visitor) {
      const { client } = visitor
      const { runningMax, waitingMax, clientMax } = bounds()
      if ((held.get(client) ?? 0) >= clientMax) throw refusal('throttled', CLIENT_MESSAGE)
      const isFull = running >= runningMax
      if (signal.aborted || (isFull && lines.size >= waitingMax)) {
        throw refusal('unavailable', BUSY_MESSAGE)
      }
      if (isFull) refuseLongWait(visitor.repository)
      add(held, client, 1)
      return isFull ? waitForSlot(signal, visitor) : start(client, 0)
    },
    get load() {
      return { running, waiting: lines.size }
    },
  }
}

/** Adds to the count of a key, and deletes the key if its count becomes zero. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

function refusal(name: 'throttled' | 'unavailable', message: string, seconds = 0): Failure {
  const retryAfterSeconds = Math.min(
    RETRY_AFTER_SECONDS_MAX,
    Math.max(RETRY_AFTER_SECONDS, seconds),
  )
  return new Failure(name, message, { retryAfterSeconds })
}

/** Time for which `isIdle` waits. */
const IDLE_WITHIN_MS = 10_000
const IDLE_POLL_MS = 50

/** Waits until no request waits for a git process. Returns false if that takes too long. */
export async function isIdle(queue: ProcessQueue): Promise<boolean> {
  const deadlineMs = performance.now() + IDLE_WITHIN_MS
  while (queue.load.waiting > 0) {
    if (performance.now() > deadlineMs) return false
    await sleep(IDLE_POLL_MS)
  }
  return true
}
