/** Pages of a list: the query parameters, and the reply headers that link to the other pages. */

import { type TObject, Type } from 'typebox'
import type { Reply } from '../../conf/http.js'
import type { Page } from '../../sql/database/page.js'
import { API_PREFIX } from '../objects/api-prefix.js'
import type { Context } from '../request/context.js'
import { jsonReply } from './surface.js'

/** Default and maximum number of entries on a page of a list. */
export const PAGE_ENTRIES_DEFAULT = 30
export const PAGE_ENTRIES_MAX = 50

export const PAGE_QUERY = {
  page: Type.Optional(Type.Integer({ description: 'page number of results to return (1-based)' })),
  limit: Type.Optional(Type.Integer({ description: 'page size of results' })),
}

/** Query schema of operations without query parameters. */
export const NO_QUERY: TObject = Type.Object({})

/** Returns the requested page. Its number is at least 1 and its size at most PAGE_ENTRIES_MAX. */
export function pageOf(query: { page?: number; limit?: number }): Page {
  const { page = 1, limit = 0 } = query
  return {
    page: Math.max(1, page),
    limit: limit <= 0 ? PAGE_ENTRIES_DEFAULT : Math.min(limit, PAGE_ENTRIES_MAX),
  }
}

export interface PageReply {
  /** Path of the list below `/api/v1`. */
  readonly path: string
  /** Other query parameters of the list, which the links to its other pages repeat. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly page: Page
  /** Name of the query parameter for the size of a page. */
  readonly limitName?: 'limit' | 'per_page'
  readonly total: number
  /** Wraps the entries, if the reply is not a plain list. */
  readonly wrap?: (entries: readonly unknown[]) => unknown
}

/** Wraps the results of a search, as Gitea does. */
export function wrapSearchResults(entries: readonly unknown[]) {
  return { ok: true, data: entries }
}

/** Returns the additional headers of lists of commits. */
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

/** Returns one page with `X-Total-Count`, and with `Link` (RFC 8288) if there are several pages. */
export function pageReply(
  context: Context,
  entries: readonly unknown[],
  { path, query = {}, page, limitName = 'limit', total, wrap = (entries) => entries }: PageReply,
): Reply {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value ? `${name}=${encodeURIComponent(value)}&` : [],
  )
  const base = `${context.settings.http.baseUrl}${API_PREFIX}${path}?${given.join('')}`
  const last = Math.max(1, Math.ceil(total / page.limit))
  const link = (number: number, relation: string) =>
    `<${base}${limitName}=${page.limit}&page=${number}>; rel="${relation}"`
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
