/** Pages of a list: what the caller asks for, and the headers that say where the rest is. */

import { type TObject, Type } from 'typebox'
import type { Reply } from '../../conf/http.js'
import { PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX } from '../../conf/limits.js'
import type { Page } from '../../sql/database/page.js'
import { API_PREFIX } from '../objects/api-prefix.js'
import type { Context } from '../request/context.js'
import { jsonReply } from './surface.js'

export const PAGE_QUERY = {
  page: Type.Optional(Type.Integer({ description: 'page number of results to return (1-based)' })),
  limit: Type.Optional(Type.Integer({ description: 'page size of results' })),
}

/** No query at all. */
export const NO_QUERY: TObject = Type.Object({})

/** The page that was asked for: from 1, and no larger than is allowed. */
export function pageOf(query: { page?: number; limit?: number }): Page {
  const { page = 1, limit = 0 } = query
  return {
    page: Math.max(1, page),
    limit: limit <= 0 ? PAGE_ENTRIES_DEFAULT : Math.min(limit, PAGE_ENTRIES_MAX),
  }
}

export interface PageReply {
  /** Below `/api/v1`. */
  readonly path: string
  /** What else the list was asked for, so that the other pages are of the same one. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly page: Page
  readonly total: number
  /** What the entries stand in, where the list is not all of the answer. */
  readonly wrap?: (entries: readonly unknown[]) => unknown
}

/** What a search finds, as this API says it. */
export function wrapSearchResults(entries: readonly unknown[]) {
  return { ok: true, data: entries }
}

/** How far the page goes, in the headers that lists of commits and of changed files add. */
export function pageHeaders({ page, limit }: Page, total: number): NonNullable<Reply['headers']> {
  const count = Math.ceil(total / limit)
  return [
    ['X-Page', String(page)],
    ['X-PerPage', String(limit)],
    ['X-Total', String(total)],
    ['X-PageCount', String(count)],
    ['X-HasMore', String(page < count)],
  ]
}

/** One page with `X-Total-Count`, and `Link` (RFC 8288) when there is more than one. */
export function pageReply(
  context: Context,
  entries: readonly unknown[],
  { path, query = {}, page, total, wrap = (entries) => entries }: PageReply,
): Reply {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value ? `${name}=${encodeURIComponent(value)}&` : [],
  )
  const base = `${context.settings.http.baseUrl}${API_PREFIX}${path}?${given.join('')}`
  const last = Math.max(1, Math.ceil(total / page.limit))
  const link = (number: number, relation: string) =>
    `<${base}limit=${page.limit}&page=${number}>; rel="${relation}"`
  const links: string[] = []
  if (page.page < last) links.push(link(page.page + 1, 'next'), link(last, 'last'))
  if (page.page > 1 && last > 1) {
    links.push(link(1, 'first'), link(Math.min(page.page - 1, last), 'prev'))
  }
  return jsonReply(200, wrap(entries), [
    ['X-Total-Count', String(total)],
    ...(links.length > 0 ? [['Link', links.join(',')] as const] : []),
    ['Access-Control-Expose-Headers', 'X-Total-Count, Link'],
  ])
}
