/** Transfer of a repository to an owner for whom the caller can create repositories. */

import { Failure, notFound } from '../../../conf/failures.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { findTeam } from '../../../sql/organizations/teams.js'
import { accessToRepository, type RepositoryModes } from '../../../sql/repositories/access.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { transferRepository } from '../../../sql/repositories/repository-transfer.js'
import type { Identity } from '../../auth/authenticate.js'
import { findOwnerForNewRepository } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { conflictAsInvalid } from '../accounts/conflict-as-invalid.js'

export interface TransferInput {
  readonly repository: Repository
  readonly newOwner: string
  /** Teams of the new owner that get access. */
  readonly teamIds?: readonly number[]
}

/** Transferred repository, with the new access of the caller. */
export interface Transferred {
  readonly repository: Repository
  readonly modes: RepositoryModes
}

/**
 * Transfers a repository. Throws `invalid` if the owner does not change or has a repository of that
 * name, and `not_found` or `forbidden` if the caller cannot create repositories for the new owner.
 */
export async function transferToOwner(
  { db }: Context,
  who: Identity,
  { repository, newOwner, teamIds = [] }: TransferInput,
): Promise<Transferred> {
  const { user } = signedIn(who)
  const owner = await findOwnerForNewRepository(db, who, newOwner)
  if (owner.id === repository.owner.id) {
    throw new Failure('invalid', 'The repository already has this owner.')
  }
  await refuseOtherTeams(db, owner, teamIds)
  await conflictAsInvalid(() =>
    transferRepository(db, { repositoryId: repository.id, newOwnerId: owner.id, teamIds }),
  )
  const moved = await findRepositoryById(db, repository.id)
  if (moved === undefined) throw notFound()
  return { repository: moved, modes: await accessToRepository(db, user, moved) }
}

async function refuseOtherTeams(
  db: Context['db'],
  owner: Owner,
  teamIds: readonly number[],
): Promise<void> {
  for (const id of teamIds) {
    const team = await findTeam(db, id)
    if (team?.organizationId !== owner.id) {
      throw new Failure('invalid', `team ${id} does not exist in ${owner.name}`)
    }
  }
}
