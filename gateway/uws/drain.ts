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

/** A round of the event loop that takes no longer had next to nothing to do. */
const CALM_MS = 0.2
const ROUNDS_MAX = 200

/**
 * The kernel resets the connections that it has queued at a listening socket when that is closed.
 * Each round of the event loop accepts those that were there when it began, so the socket is closed
 * after a round that was short.
 */
async function closeEmptied(closeListener: () => void): Promise<void> {
  await endRound()
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    const startedAtMs = performance.now()
    await endRound()
    if (performance.now() - startedAtMs <= CALM_MS) break
  }
  closeListener()
}

function endRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function waitUntil(isOver: (waitedMs: number) => boolean): Promise<void> {
  const startedAtMs = performance.now()
  while (!isOver(performance.now() - startedAtMs)) await sleep(LOOK_MS)
}
