/** Lookup of accounts that a caller can see. */

import { Failure, notFound } from '../../conf/failures.js'
import { findOwner, type Owner } from '../../sql/accounts/owners.js'
import { findUser, type User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import type { Identity } from './authenticate.js'
import { authorizeOrganization } from './authorize-accounts.js'

/** True if `viewer` can see the user. */
export function isVisible(user: Owner, viewer: User | undefined): boolean {
  if (user.visibility === 'public') return true
  if (viewer === undefined) return false
  return user.visibility === 'limited' || viewer.isAdmin || viewer.id === user.id
}

/** Returns the user or organization of that name. Throws `not_found` also if it is not visible. */
export async function findVisibleOwner(db: Database, who: Identity, name: string): Promise<Owner> {
  const owner = await findOwner(db, name)
  if (owner === undefined) throw notFound()
  if (owner.kind === 'user') {
    if (!isVisible(owner, who.kind === 'user' ? who.user : undefined)) throw notFound()
    return owner
  }
  const grant = await authorizeOrganization(db, who, { role: 'visible', name }).catch(
    (error: unknown) => {
      throw error instanceof Failure ? notFound() : error
    },
  )
  return grant.organization
}

/** Returns the user of that name. Throws `not_found` also if `viewer` cannot see the user. */
export async function findVisibleUser(
  db: Database,
  name: string,
  viewer: User | undefined,
): Promise<User> {
  const user = await findUser(db, name)
  if (user === undefined || !isVisible(user, viewer)) {
    throw notFound()
  }
  return user
}
