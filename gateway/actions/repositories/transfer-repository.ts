/** Transfers of repositories: immediate, or pending until the new owner accepts. */

import { Failure, notFound } from '../../../conf/failures.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import { findTeam, findTeamsById } from '../../../sql/organizations/teams.js'
import { accessToRepository, type RepositoryModes } from '../../../sql/repositories/access.js'
import {
  deletePendingTransfer,
  findPendingTransfer,
  IN_TRANSFER,
  insertPendingTransfer,
} from '../../../sql/repositories/pending-transfers.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { type Transfer, transferRepository } from '../../../sql/repositories/repository-transfer.js'
import type { Identity } from '../../auth/authenticate.js'
import { authorizeTransfer, authorizeTransferAnswer } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { remarkRepository } from '../../request/repository-markers.js'
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

/** Repository after the start of its transfer. */
export interface Started extends Transferred {
  /** True if the repository keeps its owner until the new one accepts. */
  readonly isPending: boolean
}

/**
 * Transfers a repository or, if the caller cannot create repositories for the new owner, stores a
 * transfer that the new owner can accept. Throws `invalid` if the owner does not change or has a
 * repository of that name, `conflict` if a transfer is pending, and like `authorizeTransfer`.
 */
export async function transferToOwner(
  context: Context,
  who: Identity,
  { repository, newOwner, teamIds = [] }: TransferInput,
): Promise<Started> {
  const { db } = context
  const { user } = signedIn(who)
  const from = repository.owner
  const { owner, isImmediate } = await authorizeTransfer(db, who, { name: newOwner, from })
  if (owner.id === from.id) {
    throw new Failure('invalid', 'The repository already has this owner.')
  }
  await refuseOtherTeams(db, owner, teamIds)
  const repositoryId = repository.id
  if (!isImmediate) {
    const offer = { repositoryId, actorId: user.id, recipientId: owner.id, teamIds }
    await insertPendingTransfer(db, offer)
    await context.upkeep.notifyUsers({ repositoryId, actorId: user.id, about: 'transfer' })
    return { repository, modes: await accessToRepository(db, user, repository), isPending: true }
  }
  if (await findPendingTransfer(db, repositoryId)) throw new Failure('conflict', IN_TRANSFER)
  const moved = await move(context, who, { repositoryId, newOwnerId: owner.id, teamIds })
  return { ...moved, isPending: false }
}

/**
 * Completes the pending transfer of a repository. Throws `invalid` if the new owner has a
 * repository of that name meanwhile, and like `authorizeTransferAnswer`.
 */
export async function acceptTransfer(
  context: Context,
  who: Identity,
  repositoryId: number,
): Promise<Transferred> {
  const { db } = context
  const { recipientId, teamIds } = await authorizeTransferAnswer(db, who, repositoryId)
  // Teams may have been deleted meanwhile.
  const teams = await findTeamsById(db, teamIds)
  const present = teams.filter(({ organizationId }) => organizationId === recipientId)
  return await move(context, who, {
    repositoryId,
    newOwnerId: recipientId,
    teamIds: present.map(({ id }) => id),
    isAccepted: true,
  })
}

/** Ends the pending transfer of a repository. Throws like `authorizeTransferAnswer`. */
export async function rejectTransfer(
  { db }: Context,
  who: Identity,
  repositoryId: number,
): Promise<void> {
  await authorizeTransferAnswer(db, who, repositoryId)
  await deletePendingTransfer(db, repositoryId)
}

async function move(context: Context, who: Identity, transfer: Transfer): Promise<Transferred> {
  const { db } = context
  await conflictAsInvalid(() => transferRepository(db, transfer))
  const repository = await findRepositoryById(db, transfer.repositoryId)
  if (repository === undefined) throw notFound()
  await remarkRepository(context, repository)
  return { repository, modes: await accessToRepository(db, signedIn(who).user, repository) }
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
