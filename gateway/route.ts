/** A route: what is asked for, who may ask, and what answers. */

import type { Awaitable } from '../conf/awaitable.js'
import type { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import type { Settings } from '../conf/settings.js'
import type { Access, AccessKind, Grants } from './auth/gate.js'
import type { Scope } from './auth/scopes.js'
import type { Context } from './context.js'

/** How one door of the house speaks: its refusals, and whether it asks strangers who they are. */
export interface Door {
  readonly name: 'api' | 'git' | 'packages' | 'system' | 'web'
  readonly challenges: boolean
  /** Where browsers come with the cookie of a session: beside other credentials, or alone. */
  readonly sessions?: 'too' | 'alone'
  /** Returns why an account's password is not accepted here, or undefined if it is. */
  passwordRefusal?(settings: Settings): string | undefined
  refuse(context: Context, failure: Failure, request: Request): Reply
}

/** An authorized request. */
export interface Call<K extends AccessKind = AccessKind> {
  readonly request: Request
  /** Percent-decoded, but for the rest of a path, which is as it was sent. */
  readonly params: Readonly<Record<string, string>>
  readonly grant: Grants[K]
}

export interface Route<K extends AccessKind = AccessKind> {
  readonly door: Door
  /** A route for GET answers HEAD as well. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * With parameters in braces: `/{owner}/{repo}/info/refs`. A last one in the form `{rest...}`
   * takes all that follows, where no other path fits. `{sha}.{type:diff|patch}` are two in one
   * segment, which ends in one of the words.
   */
  readonly path: string
  /** The exact query that it is for, where others share its path: `service=git-upload-pack`. */
  readonly query?: string
  readonly access: Extract<Access, { kind: K }>
  /** What a token needs, all of them; empty where none is asked. */
  readonly scopes: readonly Scope[]
  /** Throws a `Failure` or rejects with it. */
  readonly handle: (context: Context, call: Call<K>) => Awaitable<Reply>
}

/** A route among others, once its access kind matters to the gate alone. */
export type AnyRoute = { [K in AccessKind]: Route<K> }[AccessKind]
