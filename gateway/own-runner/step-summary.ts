/** The summary of a step, which its programs write as Markdown. */

import { setTimeout as delay } from 'node:timers/promises'
import { UPDATE_STEP_SUMMARY } from '../runner-protocol/procedures.js'
import { JobFault } from './job-fault.js'
import { readPlainFile } from './read-plain-file.js'
import { ConnectError, type ServerClient } from './server-client.js'
import type { TaskLog } from './task-log.js'

/** Maximum size of the summary of a step, as the server has it. */
const BYTES_MAX = 1_048_576

/** Number of calls if the server cannot be reached, and the time between them. */
const CALLS_MAX = 5
const RETRY_EVERY_MS = 1_000

/** Collects the summary of the present step of a task. A fault of it is a warning in the log. */
export class StepSummary {
  readonly #client: ServerClient
  readonly #taskId: bigint
  readonly #log: TaskLog
  #text = ''

  constructor(client: ServerClient, taskId: bigint, log: TaskLog) {
    this.#client = client
    this.#taskId = taskId
    this.#log = log
  }

  /** Adds the text of a program's file. */
  async read(file: string): Promise<void> {
    try {
      const limits = { name: 'the summary of the step', bytesMax: BYTES_MAX }
      const text = (await readPlainFile(file, limits)) ?? ''
      if (text === '') return
      const both = this.#text === '' ? text : `${this.#text}\n\n${text}`
      if (Buffer.byteLength(both) <= BYTES_MAX) this.#text = both
      else this.#warn(`the summary of the step is longer than ${BYTES_MAX} bytes`)
    } catch (error) {
      if (!(error instanceof JobFault)) throw error
      this.#warn(error.message)
    }
  }

  /** Sends the summary without secrets, as that of the step with this index. */
  async send(index: number): Promise<void> {
    const content = this.#log.mask(this.#text)
    this.#text = ''
    if (content === '') return
    const summaries = [{ stepNumber: BigInt(index), content }]
    for (let calls = 1; ; calls += 1) {
      try {
        await this.#client.call(UPDATE_STEP_SUMMARY, { taskId: this.#taskId, summaries })
        return
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error
        if (error.code !== 'unavailable' || calls === CALLS_MAX) {
          this.#warn(`the server has not stored it: ${error.message}`)
          return
        }
        await delay(RETRY_EVERY_MS)
      }
    }
  }

  #warn(reason: string): void {
    this.#log.add(`Warning: the summary of the step is left out, because ${reason}.`)
  }
}
