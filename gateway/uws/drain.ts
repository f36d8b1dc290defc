/** How a listener ends: new connections first, then open ones, then running requests. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ExchangeState } from './exchange.js'

/** Times of an ending listener, each counted from the end of the one before. */
export interface DrainTimes {
  /** How long new connections are accepted. */
  readonly acceptMs: number
  /** How long open connections may send another request; ends early when none is open. */
  readonly lingerMs: number
  /** How long running requests may go on. */
  readonly graceMs: number
  /** Whether another process listens on the port, so that clients may be told to connect again. */
  readonly hasSuccessor: boolean
}

export interface DrainSteps {
  /** Closes the listening socket. Called once. */
  readonly closeListener: () => void
  /** Closes all connections. Called once. */
  readonly closeConnections: () => void
}

const LOOK_MS = 20

/**
 * Returns the function that ends a listener. Later calls replace the times of the first and return
 * its promise, which resolves when all connections are closed.
 */
export function createDrain(
  state: ExchangeState,
  { closeListener, closeConnections }: DrainSteps,
): (times: DrainTimes) => Promise<void> {
  let times: DrainTimes
  let ending: Promise<void> | undefined

  async function end(): Promise<void> {
    await waitUntil((waitedMs) => times.hasSuccessor || waitedMs >= times.acceptMs)
    state.isDraining = times.hasSuccessor
    await closeEmptied(closeListener)
    await waitUntil((waitedMs) => {
      // A client that is told to close now would find no listener for its next request.
      state.isDraining = times.hasSuccessor
      return state.connections === 0 || waitedMs >= times.lingerMs
    })
    state.isDraining = true
    await waitUntil((waitedMs) => state.running === 0 || waitedMs >= times.graceMs)
    closeConnections()
  }

  return (wanted) => {
    times = wanted
    ending ??= end()
    return ending
  }
}

/**
 * The kernel resets the connections that it has queued at a listening socket when that is closed.
 * The event loop accepts all of them before it runs an immediate.
 */
async function closeEmptied(closeListener: () => void): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  closeListener()
}

async function waitUntil(isOver: (waitedMs: number) => boolean): Promise<void> {
  const startedAtMs = performance.now()
  while (!isOver(performance.now() - startedAtMs)) await sleep(LOOK_MS)
}
