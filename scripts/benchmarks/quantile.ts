/** Quantiles of measured durations. */

/** Returns the smallest duration that this share of them does not exceed. */
export function quantile(durationsMs: readonly number[], share: number): number | undefined {
  const sorted = durationsMs.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1]
}
