/** Routes as values: method, path, required access and scopes, handler. */

import type { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { Settings } from '../../conf/settings.js'
import type { Identity } from '../auth/authenticate.js'
import type { Access, AccessKind, Grants } from '../auth/authorize.js'
import type { Scope } from '../auth/scopes.js'
import type { Context } from './context.js'

/** A surface, such as the API: how it renders errors and which credentials it accepts. */
export interface Surface {
  readonly name: 'api' | 'artifacts' | 'git' | 'packages' | 'runners' | 'system' | 'web'
  /** True if anonymous clients are asked for credentials (`WWW-Authenticate`). */
  readonly challenges: boolean
  /** Accepts the cookie of a session, beside other credentials or as the only ones. */
  readonly sessions?: 'too' | 'alone'
  /** Authenticates with credentials that only this surface accepts, in place of all others. */
  authenticate?(context: Context, request: Request): Awaitable<Identity>
  /** Returns the reason for refusing account passwords here, or undefined if they are accepted. */
  passwordRefusal?(settings: Settings): string | undefined
  refuse(context: Context, failure: Failure, request: Request): Reply
}

/** An authorized request. */
export interface Call<K extends AccessKind = AccessKind> {
  readonly request: Request
  /** Percent-decoded, except `{rest...}`, which is as the client sent it. */
  readonly params: Readonly<Record<string, string>>
  readonly grant: Grants[K]
}

export interface Route<K extends AccessKind = AccessKind> {
  readonly surface: Surface
  /** A route for GET answers HEAD as well. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * Path with parameters in braces: `/{owner}/{repo}/info/refs`. A last parameter `{rest...}`
   * matches all further segments if no other route matches. `{sha}.{type:diff|patch}` are two
   * parameters in one segment, which ends in one of the words.
   */
  readonly path: string
  /** Exact query that the route matches, if others share its path: `service=git-upload-pack`. */
  readonly query?: string
  readonly access: Extract<Access, { kind: K }>
  /** Scopes, all of which a token needs. */
  readonly scopes: readonly Scope[]
  /** Throws a `Failure` or rejects with it. */
  readonly handle: (context: Context, call: Call<K>) => Awaitable<Reply>
}

/** A route of any kind of access. */
export type AnyRoute = { [K in AccessKind]: Route<K> }[AccessKind]
