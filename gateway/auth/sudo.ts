/** Requests that a site administrator sends as another user. */

import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { findUser } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import type { Identity } from './authenticate.js'
import { isLimited, limited } from './limits.js'

/** Returns the user name in the header `Sudo` or the parameter `sudo`, or undefined. */
export function sudoNameOf(request: Request): string | undefined {
  const header = request.headers.get('sudo')
  if (header !== undefined && header !== '') return header
  if (!request.query.includes('sudo=')) return undefined
  return new URLSearchParams(request.query).get('sudo') || undefined
}

/**
 * Returns the caller as the user of that name, with the scopes of the caller's token. Throws
 * `forbidden` unless the caller is a site administrator without a limited token, and `not_found` if
 * there is no such user.
 */
export async function actAs(db: Database, who: Identity, name: string): Promise<Identity> {
  if (who.kind !== 'user' || !who.user.isAdmin) {
    throw new Failure('forbidden', 'Only administrators allowed to sudo.')
  }
  if (isLimited(who)) throw limited()
  const user = await findUser(db, name)
  if (user === undefined) throw new Failure('not_found', `user does not exist [name: ${name}]`)
  return { ...who, user, sudoBy: who.user.name }
}
