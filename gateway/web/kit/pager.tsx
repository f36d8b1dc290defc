/** The way through a list that does not fit on one page. */

import type { JSX } from 'preact/jsx-runtime'
import type { Page } from '../../../sql/database/page.js'

export interface PagerProps {
  /** Of the list, without a query. */
  readonly address: string
  /** What the list was asked for besides. */
  readonly query?: Readonly<Record<string, string>>
  /** By default the newest come first. */
  readonly isOldestFirst?: boolean
  readonly page: Page
  /** Entries of all pages. */
  readonly total: number
}

/** Nothing where there is one page alone. */
export function Pager(props: PagerProps): JSX.Element | null {
  const { address, query = {}, isOldestFirst = false, page: given, total } = props
  const { page, limit } = given
  const last = Math.max(1, Math.ceil(total / limit))
  if (last === 1 && page === 1) return null
  const [before, after] = isOldestFirst ? ['Older', 'Newer'] : ['Newer', 'Older']
  const to = (number: number) =>
    `${address}?${new URLSearchParams({ ...query, page: String(number) })}`
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && <a href={to(page - 1)}>{before}</a>}
      <span>{`Page ${page} of ${last}`}</span>
      {page < last && <a href={to(page + 1)}>{after}</a>}
    </nav>
  )
}
