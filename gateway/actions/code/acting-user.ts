/** User of a request that changes a repository. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { SIGN_IN_MESSAGE } from '../../auth/authenticate.js'
import type { Grants } from '../../auth/authorize.js'

/** Returns the user. Throws `archived` if the repository is archived. */
export function actingUserOf({ user, repository }: Grants['repository']): User {
  // Deploy keys are accepted over SSH only, so a caller who writes over HTTP is a user.
  if (user === undefined) throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  return user
}
