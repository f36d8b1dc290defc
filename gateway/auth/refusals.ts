/** What the gate says no to and in which words, wherever it stands. */

import { Failure } from '../../conf/failures.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { Viewer } from '../../sql/repositories/visibility.js'
import { type Identity, SIGN_IN_MESSAGE } from './authenticate.js'
import { isPublicOnly } from './scopes.js'

/** The caller as a user. Throws `sign_in_required` for anyone else. */
export function signedIn(who: Identity): Extract<Identity, { kind: 'user' }> {
  if (who.kind !== 'user') throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  return who
}

/** Throws `sign_in_required` for who gave no credentials. */
export function refuseAnonymous(who: Identity, message = SIGN_IN_MESSAGE): void {
  if (who.kind === 'anonymous') throw new Failure('sign_in_required', message)
}

/** A token for public things alone opens nothing of an owner whom not everybody sees. */
export function refusePublicOnly(who: Identity, owner?: Owner, isPrivate = false): void {
  if (owner?.visibility === 'public' && !isPrivate) return
  if (holdsPublicOnly(who)) throw new Failure('forbidden', 'token scope is limited to public repos')
}

/** Whether the caller has a token for public things alone. */
export function holdsPublicOnly(who: Identity): boolean {
  return who.kind === 'user' && who.scopes !== undefined && isPublicOnly(who.scopes)
}

/** Whom a list is for, when this caller asks for it. */
export function viewerOf(who: Identity): Viewer {
  if (who.kind !== 'user' || holdsPublicOnly(who)) return { kind: 'anyone' }
  const viewer = { kind: who.user.isAdmin ? 'admin' : 'user', id: who.user.id } as const
  const reach = who.limits?.reach
  if (reach === undefined) return viewer
  return { kind: 'token', of: viewer, repositoryIds: reach.repositoryIds }
}

/** An id as it stands in a path; undefined for what cannot be one. */
export function readId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
