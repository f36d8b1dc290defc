/** What a token that is limited beside its scopes may still ask, and what it opens. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../../sql/database/bindings.js'
import { ANONYMOUS, type Identity } from './authenticate.js'
import type { Scope } from './scopes.js'

/** What a kind of access is to a token that opens some repositories or packages alone. */
export type TokenTreatment =
  /** The judge or the handler asks what the token opens. */
  | 'judged'
  /** The same as to who gave no credentials. */
  | 'as anybody'
  | 'closed'

/**
 * Who makes keys, webhooks, accounts and members could reach further than its own token and for
 * longer: with these scopes a limited one does nothing. For the same reason it has no more than
 * write access to a repository.
 */
const GOVERNING_SCOPES: ReadonlySet<Scope> = new Set([
  ...(['write:admin', 'write:organization', 'write:user'] as const),
])

/** As whom the caller is judged. Throws `forbidden` where a limited token has no place. */
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

/** Whether anything limits the caller's token but its scopes. */
export function isLimited(who: Identity): boolean {
  return who.kind === 'user' && who.limits !== undefined
}

/** Whether the caller's token opens some repositories or packages alone. */
export function isBound(who: Identity): boolean {
  return who.kind === 'user' && who.limits?.reach !== undefined
}

/** The caller, who outside of what a token opens is a stranger. */
export function callerAt(who: Identity, repositoryId: number): Identity {
  const reach = who.kind === 'user' ? who.limits?.reach : undefined
  return reach === undefined || reach.repositoryIds.includes(repositoryId) ? who : ANONYMOUS
}

/**
 * Which packages of an owner and format the caller's token opens, in lower case; undefined where
 * that is all of them.
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

/** Throws `forbidden` for a package that is not among these names; undefined: any is. */
export function refuseOtherPackage(names: ReadonlySet<string> | undefined, name: string): void {
  if (names !== undefined && !names.has(foldCase(name))) throw limited()
}

/** What is said of what a limited token does not open and its holder may know of. */
export function limited(): Failure {
  return new Failure('forbidden', 'This token is limited: it is not for this.')
}
