/** Lock on the owner of a repository, for limits that all repositories of an owner share. */

import type { Database } from '../database/database.js'

/**
 * Locks the owner, so that concurrent uploads to several repositories cannot exceed the limit
 * together. Precedes all reads of the transaction that do not lock.
 */
export async function lockOwner(trx: Database, repositoryId: number): Promise<void> {
  const row: { owner_id: number } | undefined = await trx('repositories')
    .where({ id: repositoryId })
    .forUpdate()
    .first('owner_id')
  await lockOwnerRow(trx, row?.owner_id ?? 0)
}

/** Locks the owner for a repository that the transaction creates; precedes the same reads. */
export async function lockOwnerRow(trx: Database, ownerId: number): Promise<void> {
  await trx('owners').where({ id: ownerId }).forUpdate().first('id')
}
