/** API operations as values, which define validation, types, authorization and documentation. */

import type { Static, TObject, TSchema } from 'typebox'
import type { Reply, Request } from '../../conf/http.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { Access, AccessKind, Grants } from '../auth/authorize.js'
import type { Scope } from '../auth/scopes.js'
import type { Context } from '../request/context.js'
import type { Route } from '../request/route.js'

/** Input of a handler, checked and typed. */
export interface Input<K extends AccessKind, Q extends TObject, B extends TSchema> {
  /** The request, for its signal, its headers and, if no schema describes it, its body. */
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
  /** `operationId` of Gitea's operation. */
  readonly id: string
  readonly method: Route['method']
  /**
   * Path below `/api/v1`. A last `{filepath...}` matches all further segments, decoded, with
   * slashes.
   */
  readonly path: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly access: Extract<Access, { kind: K }>
  readonly scopes: readonly Scope[]
  /** Description of each path parameter. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Q
  /** Schema of the body; absent if no body is read. Its `$id` is its name in the description. */
  readonly body?: B
  /** Form field of an uploaded file, and its description. The handler reads the body. */
  readonly file?: { readonly field: string; readonly about: string }
  /** Maximum size of the body, if it contains files; by default the maximum of other bodies. */
  readonly bodyBytesMax?: number
  /** Status of a successful reply, and the schema of its body; null for an empty body. */
  readonly success: { readonly status: number; readonly schema: TSchema | null }
  /**
   * Data on which a successful reply depends, besides the request and the settings: only counted
   * rows of the database, or also the Git data of the repository of the grant. Such a reply is kept
   * until that changes (`kept-replies.ts`). Absent if it depends on anything else, such as the
   * time or another repository.
   */
  readonly dependsOn?: 'rows' | 'repository'
  /** Error statuses in the description, besides 401. */
  readonly failures: readonly number[]
  readonly handle: (context: Context, input: Input<K, Q, B>) => Awaitable<Reply>
}

/** An operation whose type parameters are no longer needed after its definition. */
export type AnyOperation = Omit<Operation, 'handle' | 'access'> & {
  readonly access: Access
  readonly handle: (
    context: Context,
    input: Input<AccessKind, TObject, TSchema>,
  ) => Awaitable<Reply>
}

/**
 * Checks an operation against its own declarations at compile time. The types of the handler's
 * input follow from the schemas and the access, which are checked before the handler is called.
 */
export function defineOperation<K extends AccessKind, Q extends TObject, B extends TSchema>(
  operation: Operation<K, Q, B>,
): AnyOperation {
  return operation as unknown as AnyOperation
}
