/** Users whom other users or organizations block. */

import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import type { Page, Paged } from '../database/page.js'
import { listUsersWho } from './user-lists.js'
import type { User } from './users.js'

export interface Block {
  /** User or organization that blocks. */
  readonly ownerId: number
  readonly userId: number
}

/**
 * Blocks a user. Both no longer follow each other, and in the repositories of each, the other loses
 * stars, watches, assignments and collaborations. Throws `not_found` if one is missing.
 */
export async function addBlock(
  db: Database,
  block: Block,
  { note }: { readonly note: string },
): Promise<void> {
  const { ownerId, userId } = block
  await transaction(db, async (trx) => {
    await orNotFound('The user does not exist.', () =>
      trx('owner_blocks')
        .insert({ ...columnsOf(block), note, created_at: Date.now() })
        .onConflict(['owner_id', 'user_id'])
        .ignore(),
    )
    for (const [ownId, otherId] of [
      [ownerId, userId],
      [userId, ownerId],
    ] as const) {
      await trx('follows').where({ followed_id: ownId, user_id: otherId }).delete()
      const repositories = trx('repositories').where({ owner_id: ownId }).select('id')
      const issues = trx('issues').whereIn('repository_id', repositories.clone()).select('id')
      for (const table of ['repository_stars', 'repository_watches', 'collaborators']) {
        const place = trx(table).where({ user_id: otherId })
        await place.whereIn('repository_id', repositories.clone()).delete()
      }
      await trx('issue_assignees').where({ user_id: otherId }).whereIn('issue_id', issues).delete()
    }
  })
}

/** Ends a block. Returns false if the user was not blocked. */
export async function removeBlock(db: Database, block: Block): Promise<boolean> {
  return (await db('owner_blocks').where(columnsOf(block)).delete()) > 0
}

/** Returns true if one of the owners blocks the user. */
export async function isBlockedByAny(
  db: Database,
  userId: number,
  ownerIds: readonly number[],
): Promise<boolean> {
  const places = ownerIds.map(() => '?').join()
  const rows = await selectRows(
    db,
    `select 1 from owner_blocks where user_id = ? and owner_id in (${places})`,
    [userId, ...ownerIds],
  )
  return rows.length > 0
}

/** Returns the users whom an owner blocks, also those that are hidden meanwhile. */
export async function listBlocked(db: Database, ownerId: number, page: Page): Promise<Paged<User>> {
  const where = 'u.owner_id in (select b.user_id from owner_blocks b where b.owner_id = ?)'
  const viewer = { kind: 'admin', id: ownerId } as const
  return await listUsersWho(db, { viewer, fit: { where, bindings: [ownerId] } }, page)
}

function columnsOf({ ownerId, userId }: Block) {
  return { owner_id: ownerId, user_id: userId }
}
