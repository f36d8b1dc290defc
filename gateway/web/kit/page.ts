/** Definition of pages and form targets as values, and helpers for their handlers. */

import { Failure } from '../../../conf/failures.js'
import type { Reply, Request } from '../../../conf/http.js'
import type { Awaitable } from '../../../conf/lib/awaitable.js'
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

/** Scopes of every page: none, because pages accept no tokens. */
const NO_SCOPES: readonly Scope[] = []

/** Returns the route of a page. */
export function definePage<K extends AccessKind>(page: Page<K>): AnyRoute {
  const route: Route<K> = { surface: WEB_SURFACE, scopes: NO_SCOPES, ...page }
  return route as unknown as AnyRoute
}

const FORM_BYTES_MAX = 1_048_576

/** Reads a form (`application/x-www-form-urlencoded`). Throws `unsupported_media_type`. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get('content-type')?.split(';')[0]
  if (type !== 'application/x-www-form-urlencoded') {
    throw new Failure(
      'unsupported_media_type',
      'Send the form as application/x-www-form-urlencoded.',
    )
  }
  const declared = Number(request.headers.get('content-length') ?? 0)
  return new URLSearchParams((await readBody(request.body, FORM_BYTES_MAX, declared)).toString())
}

/** Returns a field of a form, trimmed; empty if the form does not have it. */
export function fieldOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim()
}

/** Returns a multi-line field of a form with LF line ends; browsers send CRLF. */
export function multilineField(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replaceAll('\r\n', '\n')
}

/** Runs `work`. If it throws a client error, `again` renders the form with the message. */
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

/** Redirects the browser to one of our pages with GET (303, RFC 9110 §15.4.4). */
export function redirectTo(
  { settings }: Context,
  path: string,
  headers: NonNullable<Reply['headers']> = [],
): Reply {
  return { status: 303, headers: [['Location', settings.http.basePath + path], ...headers] }
}

const PAGES_MAX = 100_000

/** Returns the page number in the query; 1 if it is absent or invalid. */
export function pageNumber(request: Request): number {
  const asked = Number(new URLSearchParams(request.query).get('page') ?? 1)
  return Number.isInteger(asked) && asked > 0 && asked <= PAGES_MAX ? asked : 1
}
