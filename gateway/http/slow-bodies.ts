/** Keeps connections open on which bodies arrive, or are read, slowly. */

/**
 * A body of a request that is arriving, or was paused when its last bytes came; or the body of a
 * reply that waits for its reader.
 */
export interface SlowBody {
  readonly receivedBytes: number
  readonly isComplete: boolean
  /** True while the gateway does not read the body. */
  readonly isPaused: boolean
  /** Restarts the library's timer. */
  restartTimer(): void
  /** Stops the library's timer until the gateway reads the body. */
  stopTimer(): void
  /** Closes the connection. */
  giveUp(): void
}

/**
 * Interval at which timers are restarted. uWebSockets.js closes a connection 10 to 12 seconds after
 * its timer was started, and restarts the timer itself only after every 160 KiB of a body, and when
 * the socket accepts bytes of a reply.
 */
const TICK_MS = 4_000
/**
 * Maximum time without data, which is also that of nginx (`send_timeout`). Data that arrives faster
 * than the minimum rate restores it.
 */
const REST_MS_MAX = 60_000
/** Rate at which a body is read to its end, however long it takes. */
const BYTES_PER_SECOND_MIN = 1_000

interface SlowBodiesOptions {
  readonly tickMs: number
  readonly restMsMax: number
}

/** The slow bodies of one listener. */
export class SlowBodies {
  readonly #options: SlowBodiesOptions
  readonly #bodies = new Map<SlowBody, { receivedBytes: number; restMs: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: SlowBodiesOptions = { tickMs: TICK_MS, restMsMax: REST_MS_MAX }) {
    this.#options = options
  }

  add(body: SlowBody): void {
    this.#bodies.set(body, { receivedBytes: 0, restMs: this.#options.restMsMax })
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs).unref()
  }

  /** Removes a body. Must be called before the reply ends: then a new request may have begun. */
  remove(body: SlowBody): void {
    this.#bodies.delete(body)
  }

  #tick(): void {
    const { tickMs, restMsMax } = this.#options
    for (const [body, known] of this.#bodies) {
      // Bytes that come after the pause start the timer, which would end a slow reader's request.
      if (body.isPaused) {
        body.stopTimer()
        continue
      }
      // Resuming the socket started the timer, which would close the connection before the reply.
      if (body.isComplete) {
        body.restartTimer()
        continue
      }
      const arrivedBytes = body.receivedBytes - known.receivedBytes
      const earnedMs = (arrivedBytes * 1_000) / BYTES_PER_SECOND_MIN
      known.restMs = Math.min(restMsMax, known.restMs + earnedMs - tickMs)
      known.receivedBytes = body.receivedBytes
      if (known.restMs > 0) {
        body.restartTimer()
        continue
      }
      this.#bodies.delete(body)
      body.giveUp()
    }
    if (this.#bodies.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
