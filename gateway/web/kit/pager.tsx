/** Links between the pages of a paginated list. */

import type { JSX } from 'preact/jsx-runtime'
import type { Page } from '../../../sql/database/page.js'

export interface PagerProps {
  /** Address of the list, without a query. */
  readonly address: string
  /** Further query parameters of the list. */
  readonly query?: Readonly<Record<string, string>>
  /** True if the oldest entries come first; by default the newest do. */
  readonly isOldestFirst?: boolean
  readonly page: Page
  /** Number of entries on all pages. */
  readonly total: number
}

/** Renders the links; null if there is only one page. */
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
