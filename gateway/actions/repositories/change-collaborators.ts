/** Changes of the collaborators of a repository, by user name. */

import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import {
  type CollaboratorMode,
  removeCollaborator,
  setCollaborator,
} from '../../../sql/repositories/collaborators.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { refuseBlockedPair } from '../../auth/authorize-blocked.js'
import { findVisibleUser } from '../../auth/visible-owner.js'

export interface CollaboratorInput {
  readonly repository: Repository
  /** Caller, who must be able to see the user. */
  readonly viewer: User | undefined
  readonly name: string
}

/**
 * Adds a collaborator or changes their access. Throws `not_found`, `invalid` for the owner, and
 * `forbidden` if the user and the owner block each other.
 */
export async function addCollaborator(
  db: Database,
  { repository, viewer, name, mode }: CollaboratorInput & { readonly mode: CollaboratorMode },
): Promise<void> {
  const user = await findVisibleUser(db, name, viewer)
  if (user.id === repository.owner.id) {
    throw new Failure('invalid', 'The owner of a repository cannot be its collaborator.')
  }
  await refuseBlockedPair(db, user, repository.owner)
  await setCollaborator(db, { repositoryId: repository.id, userId: user.id, mode })
}

/** Removes a collaborator. Throws `not_found` if `viewer` cannot see the user. */
export async function deleteCollaborator(
  db: Database,
  { repository, viewer, name }: CollaboratorInput,
): Promise<void> {
  const user = await findVisibleUser(db, name, viewer)
  await removeCollaborator(db, repository.id, user.id)
}
