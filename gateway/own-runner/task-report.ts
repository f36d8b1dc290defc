/** Reports the state of a task: a heartbeat while it runs, and its result at the end. */

import { setTimeout as delay } from 'node:timers/promises'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { Result } from '../runner-protocol/messages.js'
import { UPDATE_TASK } from '../runner-protocol/procedures.js'
import { ConnectError, type ServerClient } from './server-client.js'

const HEARTBEAT_EVERY_MS = 2_000

/** Time for which the result is sent again after an error. */
const FINISH_WITHIN_MS = 30_000
const RETRY_EVERY_MS = 1_000

/** Progress of one step. */
export interface StepProgress {
  result: Result
  startedAtMs?: number
  stoppedAtMs?: number
  logIndex: number
  logLength: number
}

/** Result of a task. */
export interface TaskResult {
  readonly result: Result
  readonly outputs: Readonly<Record<string, string>>
}

/** The state of one task at the server. */
export class TaskReport {
  readonly steps: StepProgress[] = []
  readonly #client: ServerClient
  readonly #taskId: bigint
  readonly #cancel: () => void
  readonly #startedAtMs = Date.now()
  readonly #timer = new AbortController()
  readonly #beating: Promise<void>

  /** Starts the heartbeat. `cancel` is called if the server no longer wants the task. */
  constructor(client: ServerClient, taskId: bigint, cancel: () => void) {
    this.#client = client
    this.#taskId = taskId
    this.#cancel = cancel
    this.#beating = this.#beat()
  }

  /** Ends the heartbeat and sends the result. Throws ConnectError if that failed for 30 s. */
  async finish({ result, outputs }: TaskResult): Promise<void> {
    this.#timer.abort()
    await this.#beating
    const deadlineMs = Date.now() + FINISH_WITHIN_MS
    const stoppedAtMs = Date.now()
    for (;;) {
      try {
        await this.#update({ result, outputs, stoppedAtMs })
        return
      } catch (error) {
        const isLast = !(error instanceof ConnectError) || error.isFinal || Date.now() > deadlineMs
        if (isLast) throw error
        await delay(RETRY_EVERY_MS)
      }
    }
  }

  async #beat(): Promise<void> {
    while (!this.#timer.signal.aborted) {
      await delay(HEARTBEAT_EVERY_MS, undefined, { signal: this.#timer.signal }).catch(() => {})
      if (this.#timer.signal.aborted) return
      try {
        const result = await this.#update({ result: Result.UNSPECIFIED, outputs: {} })
        if (result === Result.CANCELLED) this.#cancel()
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error
        // The server has given the task up, so nothing would come of its work.
        if (error.isFinal) this.#cancel()
      }
    }
  }

  /** Sends the state. Returns the result that the server has. */
  async #update(end: TaskResult & { readonly stoppedAtMs?: number }): Promise<Result> {
    const { state } = await this.#client.call(UPDATE_TASK, {
      state: {
        id: this.#taskId,
        result: end.result,
        startedAt: timestampFromMs(this.#startedAtMs),
        ...timeOf('stoppedAt', end.stoppedAtMs),
        steps: this.steps.map((step, at) => ({
          id: BigInt(at),
          result: step.result,
          ...timeOf('startedAt', step.startedAtMs),
          ...timeOf('stoppedAt', step.stoppedAtMs),
          logIndex: BigInt(step.logIndex),
          logLength: BigInt(step.logLength),
        })),
      },
      outputs: { ...end.outputs },
    })
    return state?.result ?? Result.UNSPECIFIED
  }
}

/** Returns an object with the time by its name; without the name if there is no time. */
function timeOf<K extends string>(name: K, timeMs: number | undefined) {
  type Times = { [key in K]?: ReturnType<typeof timestampFromMs> }
  return (timeMs === undefined ? {} : { [name]: timestampFromMs(timeMs) }) as Times
}
