/** An API operation as a value: what validates, types, authorises and documents it. */

import type { Static, TObject, TSchema } from 'typebox'
import type { Awaitable } from '../../conf/awaitable.js'
import type { Reply, Request } from '../../conf/http.js'
import type { Access, AccessKind, Grants } from '../auth/authorize.js'
import type { Scope } from '../auth/scopes.js'
import type { Context } from '../request/context.js'
import type { Route } from '../request/route.js'

/** What the handler is given: everything checked and typed. */
export interface Input<K extends AccessKind, Q extends TObject, B extends TSchema> {
  /** For its signal, its headers and, where no schema describes it, its body. */
  readonly request: Request
  readonly grant: Grants[K]
  readonly params: Readonly<Record<string, string>>
  readonly query: Static<Q>
  readonly body: Static<B>
}

export interface Operation<
  K extends AccessKind = AccessKind,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
> {
  /** Gitea's own operationId. */
  readonly id: string
  readonly method: Route['method']
  /** Below `/api/v1`. A last `{filepath...}` takes all that follows, decoded, with its slashes. */
  readonly path: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly access: Extract<Access, { kind: K }>
  readonly scopes: readonly Scope[]
  /** A sentence for each path parameter. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  /** Absent: no body is read. Its `$id` names it in the description. */
  readonly body?: B
  /** The field of a form that brings a file, and a sentence; the handler reads the body. */
  readonly file?: { readonly field: string; readonly about: string }
  /** Of a body that carries files; what other bodies may have, by default. */
  readonly bodyBytesMax?: number
  /** Status of success → what the answer holds; null for an empty one. */
  readonly success: { readonly status: number; readonly schema: TSchema | null }
  /** The statuses of failure that the description names, besides 401. */
  readonly failures: readonly number[]
  readonly handle: (context: Context, input: Input<K, Q, B>) => Awaitable<Reply>
}

/** An operation among others, whose types matter no more once it is defined. */
export type AnyOperation = Omit<Operation, 'handle' | 'access'> & {
  readonly access: Access
  readonly handle: (
    context: Context,
    input: Input<AccessKind, TObject, TSchema>,
  ) => Awaitable<Reply>
}

/**
 * Checks an operation against its own declarations as it is written down. The types of its handler
 * follow from its schemas and its access; whoever calls it later has checked them.
 */
export function defineOperation<K extends AccessKind, Q extends TObject, B extends TSchema>(
  operation: Operation<K, Q, B>,
): AnyOperation {
  return operation as unknown as AnyOperation
}
