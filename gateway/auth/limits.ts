/** Authorization of limited tokens, which have restrictions in addition to their scopes. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../../sql/database/bindings.js'
import { ANONYMOUS, type Identity } from './authenticate.js'
import type { Scope } from './scopes.js'

/** Treatment, by kind of access, of a token that is limited to some repositories or packages. */
export type TokenTreatment =
  /** The authorizer or the handler checks the limits of the token. */
  | 'judged'
  /** The caller is treated as anonymous. */
  | 'as anybody'
  /** The token is refused. */
  | 'closed'

/**
 * Scopes that a limited token cannot use: the keys, webhooks, accounts and members that it could
 * create would have more access than the token, and for longer. For the same reason, it has at most
 * write access to a repository.
 */
const GOVERNING_SCOPES: ReadonlySet<Scope> = new Set([
  ...(['write:admin', 'write:organization', 'write:user'] as const),
])

/**
 * Returns the identity to authorize: the caller, or an anonymous one for a token whose limits
 * exclude this kind of access. Throws `forbidden` if a limited token is not permitted at all.
 */
export function callerWithin(
  who: Identity,
  { reach, scopes }: { readonly reach: TokenTreatment; readonly scopes: readonly Scope[] },
): Identity {
  if (!isLimited(who)) return who
  if (scopes.some((scope) => GOVERNING_SCOPES.has(scope))) throw limited()
  if (!isBound(who) || reach === 'judged') return who
  if (reach === 'closed') throw limited()
  return ANONYMOUS
}

/** True if the caller's token has restrictions in addition to its scopes. */
export function isLimited(who: Identity): boolean {
  return who.kind === 'user' && who.limits !== undefined
}

/** True if the caller's token is limited to some repositories or packages. */
export function isBound(who: Identity): boolean {
  return who.kind === 'user' && who.limits?.reach !== undefined
}

/** Returns the caller, or an anonymous one if the caller's token does not permit the repository. */
export function callerAt(who: Identity, repositoryId: number): Identity {
  if (who.kind === 'job') return who.repositoryId === repositoryId ? who : ANONYMOUS
  const reach = who.kind === 'user' ? who.limits?.reach : undefined
  return reach === undefined || reach.repositoryIds.includes(repositoryId) ? who : ANONYMOUS
}

/**
 * Returns the names, in lower case, of the packages of an owner and format that the caller's token
 * permits; undefined if it permits all.
 */
export function permittedPackages(
  who: Identity,
  { ownerId, format }: { readonly ownerId: number; readonly format: string | undefined },
): ReadonlySet<string> | undefined {
  const reach = who.kind === 'user' ? who.limits?.reach : undefined
  if (reach === undefined) return undefined
  const ofOwner = reach.packages.filter((entry) => entry.ownerId === ownerId)
  if (ofOwner.some(({ named }) => named === undefined)) return undefined
  return new Set(
    ofOwner.flatMap(({ named }) =>
      named !== undefined && named.format === format ? named.name : [],
    ),
  )
}

/** Throws `forbidden` for a package that is not among these names; undefined permits all. */
export function refuseOtherPackage(names: ReadonlySet<string> | undefined, name: string): void {
  if (names !== undefined && !names.has(foldCase(name))) throw limited()
}

/** Returns the refusal of a limited token, for data that the caller may know of. */
export function limited(): Failure {
  return new Failure('forbidden', 'This token is limited and does not permit this request.')
}
