/** Estimate of the wait in a full queue, from the rate at which its slots became free. */

/** Minimum freed slots from which a wait is estimated. */
const PLACES_MIN = 4

/** An estimate of the wait in one queue. Its times are in milliseconds, of one monotonic clock. */
export class WaitEstimate {
  /** Time at which all slots were taken, then the times at which slots became free since. */
  readonly #timesMs: number[] = []

  /** Records that all slots are taken. Does nothing if they were taken already. */
  begin(nowMs: number): void {
    if (this.#timesMs.length === 0) this.#timesMs.push(nowMs)
  }

  /**
   * Records that a slot was freed and given to a waiting request, of `placesMax` slots in total.
   */
  note(nowMs: number, placesMax: number): void {
    this.#timesMs.push(nowMs)
    // Two times the number of slots, because requests that began together end together.
    if (this.#timesMs.length > 2 * Math.max(placesMax, PLACES_MIN) + 1) this.#timesMs.shift()
  }

  /** Records that a slot is free, which resets the estimate. */
  end(): void {
    this.#timesMs.length = 0
  }

  /**
   * Returns the expected wait of a new request that has `aheadCount` requests before it. Returns
   * undefined until at least `placesMax` slots, and at least four, became free.
   */
  waitMs(
    nowMs: number,
    { aheadCount, placesMax }: { readonly aheadCount: number; readonly placesMax: number },
  ): number | undefined {
    const count = this.#timesMs.length - 1
    const [first = nowMs] = this.#timesMs
    if (count < Math.max(placesMax, PLACES_MIN)) return undefined
    return ((aheadCount + 1) * (nowMs - first)) / count
  }
}
