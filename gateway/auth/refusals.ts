/** Checks that all authorizers share. */

import { Failure } from '../../conf/failures.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { Viewer } from '../../sql/repositories/visibility.js'
import { type Identity, SIGN_IN_MESSAGE } from './authenticate.js'
import { isPublicOnly } from './scopes.js'

/** Returns the caller if it is a user. Throws `sign_in_required` otherwise. */
export function signedIn(who: Identity): Extract<Identity, { kind: 'user' }> {
  if (who.kind !== 'user') throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  return who
}

/** Throws `sign_in_required` for an anonymous caller. */
export function refuseAnonymous(who: Identity, message = SIGN_IN_MESSAGE): void {
  if (who.kind === 'anonymous') throw new Failure('sign_in_required', message)
}

/**
 * Throws `forbidden` for a token that is limited to public data, unless the owner is public and
 * `isPrivate` is false.
 */
export function refusePublicOnly(who: Identity, owner?: Owner, isPrivate = false): void {
  if (owner?.visibility === 'public' && !isPrivate) return
  if (holdsPublicOnly(who)) throw new Failure('forbidden', 'token scope is limited to public repos')
}

/** True if the caller's token is limited to public data. */
export function holdsPublicOnly(who: Identity): boolean {
  return who.kind === 'user' && who.scopes !== undefined && isPublicOnly(who.scopes)
}

/** Returns the viewer for whom lists are filtered. */
export function viewerOf(who: Identity): Viewer {
  if (who.kind !== 'user' || holdsPublicOnly(who)) return { kind: 'anyone' }
  const viewer = { kind: who.user.isAdmin ? 'admin' : 'user', id: who.user.id } as const
  const reach = who.limits?.reach
  if (reach === undefined) return viewer
  return { kind: 'token', of: viewer, repositoryIds: reach.repositoryIds }
}

/** Reads an id of a path; undefined if it is malformed. */
export function readId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
