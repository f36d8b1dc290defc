/** Which repositories people like, and of which they want to hear. */

import { listUsersWho } from '../accounts/user-lists.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import type { Page, Paged } from '../database/page.js'
import type { Viewer } from './visibility.js'

/** What ties somebody to a repository. */
export type UserRelation = 'star' | 'watch'

export interface RelationKey {
  readonly userId: number
  readonly repositoryId: number
}

const TABLES = { star: 'repository_stars', watch: 'repository_watches' } as const

/** Ties them, if they are not. Throws `not_found` when one of them has gone. */
export async function addUserRelation(
  db: Database,
  tie: UserRelation,
  place: RelationKey,
): Promise<void> {
  const row = { ...columnsOf(place), created_at: Date.now() }
  await orNotFound('The repository does not exist.', () =>
    db(TABLES[tie]).insert(row).onConflict(['repository_id', 'user_id']).ignore(),
  )
}

/** Lets them be of each other no more. */
export async function removeUserRelation(
  db: Database,
  tie: UserRelation,
  place: RelationKey,
): Promise<void> {
  await db(TABLES[tie]).where(columnsOf(place)).delete()
}

/** Whether they are tied. */
export async function hasUserRelation(
  db: Database,
  tie: UserRelation,
  { userId, repositoryId }: RelationKey,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select 1 from ${TABLES[tie]} where repository_id = ? and user_id = ?`,
    [repositoryId, userId],
  )
  return rows.length > 0
}

function columnsOf({ userId, repositoryId }: RelationKey) {
  return { repository_id: repositoryId, user_id: userId }
}

/** Lets a user watch a repository that became theirs; an organization watches nothing. */
export async function watchAsOwner(
  trx: Database,
  { userId, repositoryId }: RelationKey,
): Promise<void> {
  if ((await selectRows(trx, 'select 1 from users where owner_id = ?', [userId])).length === 0)
    return
  await addUserRelation(trx, 'watch', { userId, repositoryId })
}

/** Who is tied to a repository, of those of whom `viewer` may know. */
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
