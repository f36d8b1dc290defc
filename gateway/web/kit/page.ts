/** A page as a value: where it is, who may see it, and what it shows; forms are sent to pages. */

import type { Awaitable } from '../../../conf/awaitable.js'
import { Failure } from '../../../conf/failures.js'
import type { Reply, Request } from '../../../conf/http.js'
import type { Access, AccessKind } from '../../auth/authorize.js'
import type { Scope } from '../../auth/scopes.js'
import { readBody } from '../../http/incoming-body.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call, Route } from '../../request/route.js'
import { WEB_SURFACE } from './surface.js'

export interface Page<K extends AccessKind = AccessKind> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly access: Extract<Access, { kind: K }>
  readonly handle: (context: Context, call: Call<K>) => Awaitable<Reply>
}

/** Pages accept no tokens, so none needs a scope. */
const NO_SCOPES: readonly Scope[] = []

/** The route of a page. */
export function definePage<K extends AccessKind>(page: Page<K>): AnyRoute {
  const route: Route<K> = { surface: WEB_SURFACE, scopes: NO_SCOPES, ...page }
  return route as unknown as AnyRoute
}

const FORM_BYTES_MAX = 1_048_576

/** The fields of a form (`application/x-www-form-urlencoded`). Throws `unsupported_media_type`. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]
  if (type !== 'application/x-www-form-urlencoded') {
    throw new Failure('unsupported_media_type', 'Send the form of the page.')
  }
  const declared = Number(request.headers.get('content-length') ?? 0)
  return new URLSearchParams((await readBody(request.body, FORM_BYTES_MAX, declared)).toString())
}

/** A field of a form without blanks around it; empty where it was not sent. */
export function fieldOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim()
}

/** A text of several lines, as it was written: browsers end each with two characters. */
export function multilineField(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replaceAll('\r\n', '\n')
}

/** Does what a form asks for. Where it cannot be done, `again` shows the form with the reason. */
export async function withFormErrors(
  work: () => Promise<Reply>,
  again: (failure: Failure) => Awaitable<Reply>,
): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error
    return again(error)
  }
}

/** Leads the browser to a page of ours, with GET (RFC 9110 §15.4.4). */
export function redirectTo(
  { settings }: Context,
  path: string,
  headers: NonNullable<Reply['headers']> = [],
): Reply {
  return { status: 303, headers: [['Location', settings.http.baseUrl + path], ...headers] }
}

const PAGES_MAX = 100_000

/** The number of the page of a list that the query asks for; the first by default. */
export function pageNumber(request: Request): number {
  const asked = Number(new URLSearchParams(request.query).get('page') ?? 1)
  return Number.isInteger(asked) && asked > 0 && asked <= PAGES_MAX ? asked : 1
}
