/** Transfer of a repository to another owner. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { orConflict } from '../database/errors.js'
import { IN_TRANSFER } from './pending-transfers.js'
import { NAME_TAKEN } from './repositories.js'
import { watchAsOwner } from './stars-and-watches.js'

export interface Transfer {
  readonly repositoryId: number
  readonly newOwnerId: number
  /** Ids of the new owner's teams that get access to the repository. */
  readonly teamIds: readonly number[]
  /** True if the new owner has accepted a pending transfer, which ends. */
  readonly isAccepted?: true
}

/**
 * Transfers a repository; its old name redirects to the new owner. Teams of the former owner lose
 * access, and packages lose their link to the repository. Throws `conflict` if the new owner has a
 * repository with that name or if another transfer is pending, and `not_found` if the repository
 * or the accepted transfer does not exist.
 */
export async function transferRepository(db: Database, transfer: Transfer): Promise<void> {
  const { repositoryId, newOwnerId, teamIds, isAccepted } = transfer
  await transaction(db, async (trx) => {
    const before: { owner_id: number; name_lower: string } | undefined = await trx('repositories')
      .where({ id: repositoryId })
      .forUpdate()
      .first('owner_id', 'name_lower')
    if (before === undefined) throw new Failure('not_found', 'The repository does not exist.')
    await orConflict(NAME_TAKEN, () =>
      trx('repositories')
        .where({ id: repositoryId })
        .update({ owner_id: newOwnerId, updated_at: Date.now() }),
    )
    const place = { repository_id: repositoryId }
    const hadOffer = (await trx('repository_transfers').where(place).delete()) > 0
    if (hadOffer && !isAccepted) throw new Failure('conflict', IN_TRANSFER)
    if (!hadOffer && isAccepted) throw new Failure('not_found', 'No transfer is pending.')
    await trx('team_repositories').where(place).delete()
    await trx('collaborators')
      .where({ ...place, user_id: newOwnerId })
      .delete()
    await trx('packages').where(place).update({ repository_id: null })
    for (const id of [...new Set(teamIds)].sort((a, b) => a - b)) {
      await trx('team_repositories').insert({ ...place, team_id: id })
    }
    await watchAsOwner(trx, { userId: newOwnerId, repositoryId })
    const { owner_id, name_lower } = before
    await trx('repository_redirects').where({ owner_id: newOwnerId, name_lower }).delete()
    await trx('repository_redirects').insert({ owner_id, name_lower, ...place })
  })
}
