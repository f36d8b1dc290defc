/** A repository that somebody is about to change. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { SIGN_IN_MESSAGE } from '../../auth/authenticate.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

export interface Writable {
  readonly repository: Repository
  /** Its folder. */
  readonly path: string
  readonly user: User
}

/** What the gate let through, ready to be changed. Throws `archived` where nothing changes. */
export function writableOf(
  { settings }: Context,
  { repository, user }: Grants['repository'],
): Writable {
  if (user === undefined) throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  return { repository, user, path: repositoryPathOf({ settings }, repository) }
}
