/** The loop of a runner: fetches tasks and runs them, one at a time. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Result, Task } from '../runner-protocol/messages.js'
import { DECLARE, FETCH_TASK } from '../runner-protocol/procedures.js'
import { removeLeftovers } from './remove-containers.js'
import { runTask, type TaskContext } from './run-task.js'
import { ConnectError } from './server-client.js'

/** Input of a runner. */
export interface RunnerInput extends TaskContext {
  readonly labels: readonly string[]
  readonly version: string
  /** Ends after one task. */
  readonly isOnce: boolean
}

/** Time for which the server may hold a call that waits for a task. */
const HOLD_MS = 5_000

/** Minimum time between two calls, for servers that do not hold them. */
const FETCH_EVERY_MS = 2_000

/**
 * Runs tasks until the signal, or one task. Returns the result of the last task; undefined if there
 * was none. Throws ConnectError if the server does not know the runner.
 */
export async function runRunner(input: RunnerInput): Promise<Result | undefined> {
  const { client, version, labels, signal, log } = input
  await removeLeftovers(input.podman, log)
  const connection = new Connection(input)
  await connection.tryUntilDone(() =>
    client.call(DECLARE, { version, labels: [...labels] }, { signal }),
  )
  if (!signal.aborted) log.info({ labels }, 'runner was started')
  let tasksVersion = 0n
  let result: Result | undefined
  while (!signal.aborted) {
    const fetchedAtMs = Date.now()
    const answer = await connection.tryUntilDone(() =>
      client.call(FETCH_TASK, { tasksVersion }, { signal, holdMs: HOLD_MS }),
    )
    tasksVersion = answer?.tasksVersion ?? 0n
    const task: Task | undefined = answer?.task
    if (task === undefined) {
      await pause(fetchedAtMs + FETCH_EVERY_MS - Date.now(), signal)
      continue
    }
    tasksVersion = 0n
    result = await runTask(task, input)
    if (input.isOnce) break
  }
  return result
}

const RETRY_FIRST_MS = 1_000
const RETRY_MAX_MS = 30_000

/** Repeats calls to a server that cannot be reached, and logs each change of that. */
class Connection {
  readonly #input: RunnerInput
  #isReachable = true

  constructor(input: RunnerInput) {
    this.#input = input
  }

  /** Returns the answer; undefined if the runner ends before. Throws if the runner is unknown. */
  async tryUntilDone<T>(call: () => Promise<T>): Promise<T | undefined> {
    const { signal, log } = this.#input
    for (let retryMs = RETRY_FIRST_MS; !signal.aborted; ) {
      try {
        const answer = await call()
        if (!this.#isReachable) log.info('server is reachable')
        this.#isReachable = true
        return answer
      } catch (error) {
        if (!(error instanceof ConnectError) || error.code === 'unauthenticated') throw error
        if (signal.aborted) return undefined
        if (this.#isReachable) log.warn({ reason: error.message }, 'server is not reachable')
        this.#isReachable = false
        await pause(retryMs, signal)
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)
      }
    }
    return undefined
  }
}

/** Waits, but not longer than until the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => {})
}
