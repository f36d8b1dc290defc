/** Keeps connections open whose request bodies arrive slowly. */

/** A request body that is arriving, or was paused when its last bytes came. */
export interface ArrivingBody {
  readonly receivedBytes: number
  readonly isComplete: boolean
  /** Whether the gateway has stopped reading it for now. */
  readonly isPaused: boolean
  /** Restarts the library's timer. */
  restartTimer(): void
}

/**
 * uWebSockets.js closes a connection 10 to 12 seconds after the timer was started last, and only
 * every 160 KiB of a body start it again. So it is started again by hand, well within that time.
 */
const TICK_MS = 4_000
/** A body may rest for this long, and once more after it has made up for it. */
const REST_MS_MAX = 60_000
/** A body that arrives at this rate is read to its end. */
const BYTES_PER_SECOND_MIN = 1_000

interface SlowBodiesOptions {
  readonly tickMs: number
  readonly restMsMax: number
}

/** The bodies of one listener that are arriving. */
export class SlowBodies {
  readonly #options: SlowBodiesOptions
  readonly #bodies = new Map<ArrivingBody, { receivedBytes: number; restMs: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: SlowBodiesOptions = { tickMs: TICK_MS, restMsMax: REST_MS_MAX }) {
    this.#options = options
  }

  add(body: ArrivingBody): void {
    this.#bodies.set(body, { receivedBytes: 0, restMs: this.#options.restMsMax })
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs).unref()
  }

  /** To be called before the response ends: the connection belongs to the next request then. */
  remove(body: ArrivingBody): void {
    this.#bodies.delete(body)
  }

  #tick(): void {
    const { tickMs, restMsMax } = this.#options
    for (const [body, known] of this.#bodies) {
      if (body.isPaused) continue
      // Its timer runs only because it was resumed, and would end the request before the reply.
      if (body.isComplete) {
        body.restartTimer()
        continue
      }
      const arrivedBytes = body.receivedBytes - known.receivedBytes
      const earnedMs = (arrivedBytes * 1_000) / BYTES_PER_SECOND_MIN
      known.restMs = Math.min(restMsMax, known.restMs + earnedMs - tickMs)
      known.receivedBytes = body.receivedBytes
      // Without another start of the timer, the library closes the connection.
      if (known.restMs <= 0) this.#bodies.delete(body)
      else body.restartTimer()
    }
    if (this.#bodies.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
