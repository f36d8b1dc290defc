/** How long a full queue will keep a newcomer waiting, from how fast its places came free. */

/** Fewer places than this say nothing about those that follow. */
const PLACES_MIN = 4

/** Times are of one clock, in milliseconds. */
export class WaitEstimate {
  /** When all places were taken, and when the last ones came free since. */
  readonly #timesMs: number[] = []

  /** All places are taken from now on. Does nothing if they were before. */
  begin(nowMs: number): void {
    if (this.#timesMs.length === 0) this.#timesMs.push(nowMs)
  }

  /** A place came free and was given to the next in line. `placesMax` is how many there are. */
  note(nowMs: number, placesMax: number): void {
    this.#timesMs.push(nowMs)
    // Two rounds: requests that began together end together.
    if (this.#timesMs.length > 2 * Math.max(placesMax, PLACES_MIN) + 1) this.#timesMs.shift()
  }

  /** A place is free. */
  end(): void {
    this.#timesMs.length = 0
  }

  /**
   * The time until a newcomer with `aheadCount` others before it has a place. Undefined until as
   * many places came free as there are.
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
