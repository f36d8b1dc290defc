/** Times of comments and events, which give the order of a timeline. */

/** Steps back of the clock that are corrections; a larger one means that it was wrong before. */
const LARGEST_CORRECTION_MS = 1000

let lastMs = 0

/**
 * Returns the current time in milliseconds since 1970, later than any that this process has had
 * from here, so that entries keep their order within a millisecond and when the clock is corrected.
 */
export function nextEntryTimeMs(): number {
  const nowMs = Date.now()
  const aheadMs = lastMs - nowMs
  lastMs = aheadMs >= 0 && aheadMs < LARGEST_CORRECTION_MS ? lastMs + 1 : nowMs
  return lastMs
}
