/** Times in ISO 8601. */

/**
 * Returns the time in ISO 8601; empty if it is out of range, as times of commits and of runners can
 * be.
 */
export function isoOf(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
