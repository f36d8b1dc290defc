/** Claims about a user for applications (OpenID Connect Core §5.1). */

import type { User } from '../../sql/accounts/users.js'

/** Returns the claims that ID tokens and the UserInfo endpoint share. */
export function claimsOf(user: User) {
  return {
    sub: String(user.id),
    name: user.fullName === '' ? user.name : user.fullName,
    preferred_username: user.name,
    email: user.email,
  }
}
