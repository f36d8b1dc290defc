/** Pages of lists: one with the total count, and all of them one after the other. */

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

/** Rows after an id, ordered by id. */
export interface RowPage {
  readonly afterId: number
  readonly limit: number
}

/** A function that returns up to `limit` rows with ids above `afterId`, ordered by id. */
export type PageReader<Row> = (page: RowPage) => PromiseLike<readonly Row[]>

/** Number of rows that are read with one query. */
const ROWS_PER_PAGE = 200

/** Yields all rows after an id in pages, so that the memory is that of one page. */
export async function* pagesOf<Row extends { readonly id: number }>(
  read: PageReader<Row>,
  firstAfterId = 0,
): AsyncGenerator<readonly Row[]> {
  for (let afterId = firstAfterId; ; ) {
    const page = await read({ afterId, limit: ROWS_PER_PAGE })
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < ROWS_PER_PAGE) return
    afterId = last.id
  }
}
