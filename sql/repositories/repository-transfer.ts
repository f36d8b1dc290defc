/** A repository that goes to another owner. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { orConflict } from '../database/errors.js'
import { NAME_TAKEN } from './repositories.js'
import { watchAsOwner } from './stars-and-watches.js'

export interface Transfer {
  readonly repositoryId: number
  readonly newOwnerId: number
  /** Teams of the new owner that are given the repository. */
  readonly teamIds: readonly number[]
}

/**
 * Gives a repository to another owner; its old place leads to the new one. The teams of the former
 * owner and the links of its packages stay behind. Throws `conflict` when the new owner has one of
 * that name, and `not_found` when the repository has gone.
 */
export async function transferRepository(db: Database, transfer: Transfer): Promise<void> {
  const { repositoryId, newOwnerId, teamIds } = transfer
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
