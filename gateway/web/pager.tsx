/** The way through a list that does not fit on one page. */

import type { JSX } from 'preact/jsx-runtime'
import type { Page } from '../../sql/page.js'

export interface PagerProps {
  /** Of the list, without a query. */
  readonly address: string
  readonly page: Page
  /** Entries of all pages. */
  readonly total: number
}

/** Nothing where there is one page alone. */
export function Pager({ address, page: { page, limit }, total }: PagerProps): JSX.Element | null {
  const last = Math.max(1, Math.ceil(total / limit))
  if (last === 1 && page === 1) return null
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && <a href={`${address}?page=${page - 1}`}>Newer</a>}
      <span>{`Page ${page} of ${last}`}</span>
      {page < last && <a href={`${address}?page=${page + 1}`}>Older</a>}
    </nav>
  )
}
