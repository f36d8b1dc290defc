/** What an application is told of who has signed in (OpenID Connect Core §5.1). */

import type { User } from '../../sql/accounts/users.js'

/** The claims that are the same in every place. */
export function claimsOf(user: User) {
  return {
    sub: String(user.id),
    name: user.fullName === '' ? user.name : user.fullName,
    preferred_username: user.name,
    email: user.email,
  }
}
