/** Who changes something of a repository that may be changed. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { SIGN_IN_MESSAGE } from '../../auth/authenticate.js'
import type { Grants } from '../../auth/authorize.js'

/** The user behind a change. Throws `archived` where nothing is to be changed any more. */
export function actingUserOf({ user, repository }: Grants['repository']): User {
  // Who writes over the API has signed in: machines with a key alone come over SSH.
  if (user === undefined) throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  return user
}
