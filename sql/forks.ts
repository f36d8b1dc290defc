/** Which repository was made from which. */

import { Failure } from '../conf/failures.js'
import { type Database, transaction } from './database.js'
import { isReferenceViolation } from './errors.js'
import { createRepository, type NewRepository, type Repository } from './repositories.js'

/**
 * Makes a fork known. Throws `conflict` when its owner has a repository of that name, and
 * `not_found` when the one that it was made from has gone meanwhile.
 */
export async function createFork(
  db: Database,
  fork: NewRepository,
  parentId: number,
): Promise<Repository> {
  try {
    return await transaction(db, async (trx) => {
      const created = await createRepository(trx, fork)
      await trx('repository_forks').insert({ repository_id: created.id, parent_id: parentId })
      return created
    })
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
    throw new Failure('not_found', 'The repository does not exist.', { cause: error })
  }
}
