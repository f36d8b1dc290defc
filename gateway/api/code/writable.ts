/** A repository that the request is about to change. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { SIGN_IN_MESSAGE } from '../../auth/authenticate.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

export interface Writable {
  readonly repository: Repository
  /** Path of the repository's folder. */
  readonly path: string
  readonly user: User
}

/**
 * Returns the authorized repository and user. Throws `archived` if the repository is archived, and
 * `sign_in_required` if the caller is not a user.
 */
export function writableOf(
  { settings }: Context,
  { repository, user }: Grants['repository'],
): Writable {
  if (user === undefined) throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  return { repository, user, path: repositoryPathOf({ settings }, repository) }
}
