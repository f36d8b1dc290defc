/** Writes of logs: the messages that arrive during a write are stored together by the next one. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { LogAppend, LogState } from '../../sql/runs/task-logs.js'

/** Time between the begins of two writes: with 100 messages a second, a write has several. */
const INTERVAL_MS = 50

const APPENDS_MAX = 200
/** Maximum number of the characters of a write, unless a single message has more. */
const CHARACTERS_MAX = 8_388_608

/** Stores appends to the logs of different tasks; the result is as that of `appendLogs`. */
export type AppendLogs = (appends: readonly LogAppend[]) => Promise<ReadonlyMap<number, LogState>>

interface Waiting {
  readonly append: LogAppend
  readonly characters: number
  readonly resolve: (state: LogState | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Writer of the logs of one worker. */
export class LogWriter {
  readonly #write: AppendLogs
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(write: AppendLogs) {
    this.#write = write
  }

  /**
   * Appends to a log. Resolves after the rows are stored, with the state of the log; undefined if
   * the task does not exist.
   */
  append(append: LogAppend): Promise<LogState | undefined> {
    const characters = append.rows.reduce((sum, { text }) => sum + text.length, 0)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, characters, resolve, reject })
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      await Promise.all([this.#writeSome(), sleep(INTERVAL_MS)])
    }
    this.#isRunning = false
  }

  async #writeSome(): Promise<void> {
    const some = this.#take()
    try {
      const states = await this.#write(some.map(({ append }) => append))
      for (const { append, resolve } of some) resolve(states.get(append.taskId))
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }

  /** Takes the oldest messages, at most one of each task. */
  #take(): readonly Waiting[] {
    const taken = new Map<number, Waiting>()
    let characters = 0
    for (const waiting of this.#waiting) {
      const { taskId } = waiting.append
      if (taken.has(taskId)) continue
      characters += waiting.characters
      if (taken.size > 0 && (characters > CHARACTERS_MAX || taken.size === APPENDS_MAX)) break
      taken.set(taskId, waiting)
    }
    const some = new Set(taken.values())
    this.#waiting = this.#waiting.filter((waiting) => !some.has(waiting))
    return [...some]
  }
}
