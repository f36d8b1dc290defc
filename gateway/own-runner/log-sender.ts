/** Sends the rows of a task's log, and keeps them until the server has acknowledged them. */

import { setTimeout as delay } from 'node:timers/promises'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { UPDATE_LOG } from '../runner-protocol/procedures.js'
import { ConnectError, type ServerClient } from './server-client.js'

/** Number of rows that are sent without waiting for more. */
const BATCH_ROWS = 100

/** Maximum number of rows and characters of a call. */
const CALL_ROWS_MAX = 1_000
const CALL_LENGTH_MAX = 1_048_576

/** Time for which fewer rows wait for more. */
const SEND_EVERY_MS = 1_000

/** Characters in memory beyond which the steps of the task have to wait. */
const WAITING_LENGTH_MAX = 4_194_304

/** Characters that a row takes in memory besides its content. */
const ROW_OVERHEAD = 100

/** Time for which the end of the log is tried. */
const CLOSE_WITHIN_MS = 30_000

interface Row {
  readonly timeMs: number
  readonly content: string
}

/** The log of one task. */
export class LogSender {
  readonly #client: ServerClient
  readonly #taskId: bigint
  readonly #sending: Promise<void>
  #rows: Row[] = []
  #waitingLength = 0
  /** Number of rows that the server has acknowledged. */
  #acknowledged = 0
  #isClosing = false
  /** Set if the server has refused the log for good; further rows are dropped. */
  #refusal: ConnectError | undefined
  #closeBeforeMs = Number.POSITIVE_INFINITY
  #wake: () => void = () => {}
  #makeRoom: () => void = () => {}

  constructor(client: ServerClient, taskId: bigint) {
    this.#client = client
    this.#taskId = taskId
    this.#sending = this.#send()
  }

  /** Number of rows so far, which is the index of the next one. */
  get rowCount(): number {
    return this.#acknowledged + this.#rows.length
  }

  add(content: string): void {
    if (this.#refusal !== undefined) return
    this.#rows.push({ timeMs: Date.now(), content })
    this.#waitingLength += content.length + ROW_OVERHEAD
    if (this.#rows.length >= BATCH_ROWS) this.#wake()
  }

  /** Waits while too many rows are in memory. */
  async hasRoom(): Promise<void> {
    while (this.#waitingLength > WAITING_LENGTH_MAX && this.#refusal === undefined) {
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve
      })
    }
  }

  /** Sends the remaining rows and ends the log. Throws ConnectError if that failed for 30 s. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#closeBeforeMs = Date.now() + CLOSE_WITHIN_MS
    this.#wake()
    await this.#sending
    if (this.#refusal !== undefined) throw this.#refusal
  }

  async #send(): Promise<void> {
    for (let isEnded = false; !isEnded && this.#refusal === undefined; ) {
      if (!this.#isClosing && this.#rows.length < BATCH_ROWS) await this.#pause()
      if (this.#rows.length === 0 && !this.#isClosing) continue
      isEnded = await this.#sendOnce()
    }
    this.#makeRoom()
  }

  async #pause(): Promise<void> {
    const timer = new AbortController()
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([
      woken,
      delay(SEND_EVERY_MS, undefined, { signal: timer.signal }).catch(() => {}),
    ])
    timer.abort()
  }

  /** Sends the first rows. Returns true if they were the last ones of a log that is closing. */
  async #sendOnce(): Promise<boolean> {
    const rows = this.#firstRows()
    const noMore = this.#isClosing && rows.length === this.#rows.length
    try {
      const { ackIndex } = await this.#client.call(UPDATE_LOG, {
        taskId: this.#taskId,
        index: BigInt(this.#acknowledged),
        rows: rows.map(({ timeMs, content }) => ({ time: timestampFromMs(timeMs), content })),
        noMore,
      })
      const kept = Number(ackIndex) - this.#acknowledged
      if (kept < 0) throw new ConnectError('not_found', 'the server has lost rows of the log')
      this.#drop(Math.min(kept, rows.length))
      return noMore && this.#rows.length === 0
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      if (error.isFinal || Date.now() > this.#closeBeforeMs) this.#refusal = error
      else await delay(SEND_EVERY_MS)
      return false
    }
  }

  #firstRows(): readonly Row[] {
    let length = 0
    const end = this.#rows.findIndex(({ content }) => {
      length += content.length
      return length > CALL_LENGTH_MAX
    })
    // The first row is sent alone if it is too long.
    return this.#rows.slice(
      0,
      Math.min(end === -1 ? CALL_ROWS_MAX : Math.max(end, 1), CALL_ROWS_MAX),
    )
  }

  #drop(count: number): void {
    for (const { content } of this.#rows.splice(0, count)) {
      this.#waitingLength -= content.length + ROW_OVERHEAD
      this.#acknowledged += 1
    }
    if (this.#waitingLength <= WAITING_LENGTH_MAX) this.#makeRoom()
  }
}
