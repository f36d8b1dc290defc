/** Pages of a list with the total count. */

export interface Page {
  /** Page number, counted from 1. */
  readonly page: number
  readonly limit: number
}

export interface Paged<T> {
  readonly entries: readonly T[]
  /** Number of entries on all pages. */
  readonly total: number
}

/** Returns the number of entries before the page. */
export function offsetOf(page: Page): number {
  return (page.page - 1) * page.limit
}
