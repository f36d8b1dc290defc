/** The orderly end of a listener: of new connections, then of open ones, then of requests. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ExchangeState } from './exchange.js'

/** Durations of the steps of an end; each step starts when the one before is over. */
export interface DrainTimes {
  /** Time in which new connections are accepted. */
  readonly acceptMs: number
  /** Time in which open connections may send requests; ends early if none is open. */
  readonly lingerMs: number
  /** Time in which running requests may finish. */
  readonly graceMs: number
  /** True if another process listens on the port, so that clients can connect again. */
  readonly hasSuccessor: boolean
}

export interface DrainSteps {
  /** Closes the listening socket. Called once. */
  readonly closeListener: () => void
  /** Closes all connections. Called once. */
  readonly closeConnections: () => void
}

const POLL_MS = 20

/**
 * Time in which a client takes the last bytes of a long body. The library keeps up to 32 KiB that
 * the socket has not accepted, does not report them, and drops them if it closes the connection.
 */
const LAST_BYTES_MS = 2_000

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
      // If the connection were closed now, the client would find no listener for its next request.
      state.isDraining = times.hasSuccessor
      return state.connections === 0 || waitedMs >= times.lingerMs
    })
    state.isDraining = true
    await waitUntil((waitedMs) => isSent(state) || waitedMs >= times.graceMs)
    closeConnections()
  }

  return (wanted) => {
    times = wanted
    ending ??= end()
    return ending
  }
}

function isSent({ connections, running, longBodyEndedAtMs }: ExchangeState): boolean {
  if (running > 0) return false
  return connections === 0 || performance.now() - longBodyEndedAtMs >= LAST_BYTES_MS
}

/** Longest duration of an event-loop tick that counts as idle. */
const CALM_MS = 0.2
const ROUNDS_MAX = 200

/**
 * Closes the listening socket after an idle event-loop tick. The kernel resets the connections that
 * are queued at a listening socket when it is closed. Each tick accepts the connections that were
 * queued when it began, so few can be queued after a short tick.
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
  while (!isOver(performance.now() - startedAtMs)) await sleep(POLL_MS)
}
