/** Stars and watches of repositories. */

import { listUsersWho } from '../accounts/user-lists.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import type { Page, Paged } from '../database/page.js'
import type { Viewer } from './visibility.js'

/** Relation of a user to a repository. */
export type UserRelation = 'star' | 'watch'

export interface RelationKey {
  readonly userId: number
  readonly repositoryId: number
}

const TABLES = { star: 'repository_stars', watch: 'repository_watches' } as const

/**
 * Adds the relation, unless it exists. Throws `not_found` if the user or the repository does not
 * exist.
 */
export async function addUserRelation(
  db: Database,
  relation: UserRelation,
  place: RelationKey,
): Promise<void> {
  const row = { ...columnsOf(place), created_at: Date.now() }
  await orNotFound('The repository does not exist.', () =>
    db(TABLES[relation]).insert(row).onConflict(['repository_id', 'user_id']).ignore(),
  )
}

/** Removes the relation. */
export async function removeUserRelation(
  db: Database,
  relation: UserRelation,
  place: RelationKey,
): Promise<void> {
  await db(TABLES[relation]).where(columnsOf(place)).delete()
}

/** Returns true if the user has the relation to the repository. */
export async function hasUserRelation(
  db: Database,
  relation: UserRelation,
  { userId, repositoryId }: RelationKey,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select 1 from ${TABLES[relation]} where repository_id = ? and user_id = ?`,
    [repositoryId, userId],
  )
  return rows.length > 0
}

function columnsOf({ userId, repositoryId }: RelationKey) {
  return { repository_id: repositoryId, user_id: userId }
}

/** Makes the new owner of a repository watch it; does nothing for an organization. */
export async function watchAsOwner(
  trx: Database,
  { userId, repositoryId }: RelationKey,
): Promise<void> {
  if ((await selectRows(trx, 'select 1 from users where owner_id = ?', [userId])).length === 0)
    return
  await addUserRelation(trx, 'watch', { userId, repositoryId })
}

/** Returns the users with the relation to a repository that `viewer` may know of. */
export async function listRelatedUsers(
  db: Database,
  {
    tie,
    repositoryId,
    viewer,
  }: { readonly tie: UserRelation; readonly repositoryId: number; readonly viewer: Viewer },
  page: Page,
): Promise<Paged<User>> {
  const where = `u.owner_id in (select x.user_id from ${TABLES[tie]} x where x.repository_id = ?)`
  return await listUsersWho(db, { viewer, fit: { where, bindings: [repositoryId] } }, page)
}
