/** Transfers of repositories that the new owner has not accepted yet. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Condition } from './visibility.js'

/** A transfer that the recipient can accept or reject. */
export interface PendingTransfer {
  readonly repositoryId: number
  /** User who offered the repository. */
  readonly actorId: number
  /** Id of the user or organization that becomes the owner. */
  readonly recipientId: number
  /** Ids of the recipient's teams that get access to the repository. */
  readonly teamIds: readonly number[]
}

/** Message for a transfer of a repository that has a pending one. */
export const IN_TRANSFER =
  'The repository is already being transferred: cancel that transfer first.'

/**
 * Stores a pending transfer. Throws `conflict` if the repository has one, and `invalid` if the
 * recipient has a repository of that name.
 */
export async function insertPendingTransfer(db: Database, offer: PendingTransfer): Promise<void> {
  const { repositoryId, actorId, recipientId, teamIds } = offer
  await transaction(db, async (trx) => {
    const place = { repository_id: repositoryId }
    const repository: { name_lower: string } | undefined = await trx('repositories')
      .where({ id: repositoryId })
      .forUpdate()
      .first('name_lower')
    if (repository === undefined) throw new Failure('not_found', 'The repository does not exist.')
    const pending = await trx('repository_transfers').where(place).first('repository_id')
    if (pending !== undefined) throw new Failure('conflict', IN_TRANSFER)
    const { name_lower } = repository
    const taken = await trx('repositories').where({ owner_id: recipientId, name_lower }).first('id')
    if (taken !== undefined) {
      throw new Failure('invalid', 'The new owner already has a repository with this name.')
    }
    const row = { actor_id: actorId, recipient_id: recipientId, team_ids: JSON.stringify(teamIds) }
    await trx('repository_transfers').insert({ ...place, ...row, created_at: Date.now() })
  })
}

/** Returns the pending transfer of a repository. */
export async function findPendingTransfer(
  db: Database,
  repositoryId: number,
): Promise<PendingTransfer | undefined> {
  const rows = await selectRows<TransferRow>(
    db,
    'select actor_id, recipient_id, team_ids from repository_transfers where repository_id = ?',
    [repositoryId],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { actor_id: actorId, recipient_id: recipientId } = row
  return { repositoryId, actorId, recipientId, teamIds: JSON.parse(row.team_ids) }
}

interface TransferRow {
  readonly actor_id: number
  readonly recipient_id: number
  readonly team_ids: string
}

/** Deletes the pending transfer of a repository. Returns false if there is none. */
export async function deletePendingTransfer(db: Database, repositoryId: number): Promise<boolean> {
  const count = await db('repository_transfers').where({ repository_id: repositoryId }).delete()
  return count > 0
}

/**
 * Returns true if a pending transfer of the repository is to the user, or to an organization in
 * which the user can create repositories.
 */
export async function isOffered(
  db: Database,
  repositoryId: number,
  userId: number,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select 1 from repository_transfers x where x.repository_id = ? and ${isForUser('?')}`,
    [repositoryId, userId, userId],
  )
  return rows.length > 0
}

/** Returns the ids of at most `limit` repositories that the user can accept, oldest first. */
export async function listOfferedIds(
  db: Database,
  userId: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ readonly repository_id: number }>(
    db,
    `select x.repository_id from repository_transfers x where x.recipient_id = ?
      union select x.repository_id from team_members m join teams t on t.id = m.team_id
      join repository_transfers x on x.recipient_id = t.organization_id
      where m.user_id = ? and ${MAY_CREATE} order by repository_id limit ?`,
    [userId, userId, limit],
  )
  return rows.map(({ repository_id }) => repository_id)
}

/** Returns a query for the ids of the users who can accept the transfer of a repository. */
export function recipientsOf(repositoryId: number): Condition {
  return {
    where: `select x.recipient_id as user_id from repository_transfers x where x.repository_id = ?
      union select m.user_id from repository_transfers x join teams t
      on t.organization_id = x.recipient_id join team_members m on m.team_id = t.id
      where x.repository_id = ? and ${MAY_CREATE}`,
    bindings: [repositoryId, repositoryId],
  }
}

const MAY_CREATE = "(t.permission = 'owner' or t.can_create_repositories = 1)"

/** Returns a condition for the transfers `x` that a user can accept; `userId` is an expression. */
export function isForUser(userId: string): string {
  return `(x.recipient_id = ${userId} or exists (select 1 from teams t
    join team_members m on m.team_id = t.id
    where t.organization_id = x.recipient_id and m.user_id = ${userId} and ${MAY_CREATE}))`
}
