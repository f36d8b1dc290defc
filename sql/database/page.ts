/** A part of a list, and how long the whole list is. */

export interface Page {
  /** From 1. */
  readonly page: number
  readonly limit: number
}

export interface Paged<T> {
  readonly entries: readonly T[]
  /** Of all pages. */
  readonly total: number
}

/** How many entries stand before the page. */
export function offsetOf(page: Page): number {
  return (page.page - 1) * page.limit
}
