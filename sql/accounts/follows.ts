/** Users who follow other users or organizations. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import type { Page, Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'
import { listUsersWho } from './user-lists.js'
import type { User } from './users.js'

export interface Follow {
  readonly userId: number
  readonly followedId: number
}

/** Makes a user follow an owner, unless the user does. Throws `not_found` if one is missing. */
export async function addFollow(db: Database, follow: Follow): Promise<void> {
  await orNotFound('The user does not exist.', () =>
    db('follows')
      .insert({ ...columnsOf(follow), created_at: Date.now() })
      .onConflict(['followed_id', 'user_id'])
      .ignore(),
  )
}

/** Makes a user no longer follow an owner. */
export async function removeFollow(db: Database, follow: Follow): Promise<void> {
  await db('follows').where(columnsOf(follow)).delete()
}

/** Returns true if the user follows the owner. */
export async function isFollowing(db: Database, { userId, followedId }: Follow): Promise<boolean> {
  const rows = await selectRows(db, 'select 1 from follows where followed_id = ? and user_id = ?', [
    followedId,
    userId,
  ])
  return rows.length > 0
}

function columnsOf({ userId, followedId }: Follow) {
  return { user_id: userId, followed_id: followedId }
}

/** Returns the followers of an owner, or the users that a user follows, whom `viewer` may see. */
export async function listFollows(
  db: Database,
  search: {
    readonly side: 'followers' | 'following'
    readonly ownerId: number
    readonly viewer: Viewer
  },
  page: Page,
): Promise<Paged<User>> {
  const { side, ownerId, viewer } = search
  const rows =
    side === 'followers'
      ? 'select f.user_id from follows f where f.followed_id = ?'
      : 'select f.followed_id from follows f where f.user_id = ?'
  const fit = { where: `u.owner_id in (${rows})`, bindings: [ownerId] }
  return await listUsersWho(db, { viewer, fit }, page)
}

export interface RelationCounts {
  readonly followers: number
  /** Number of followed users and organizations. */
  readonly following: number
  /** Number of starred repositories. */
  readonly stars: number
}

/** Returns the numbers of relations of users, by id. Runs one query. */
export async function countRelations(
  db: Database,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, RelationCounts>> {
  if (userIds.length === 0) return new Map()
  const rows = await selectRows<RelationCounts & { readonly id: number }>(
    db,
    `select u.owner_id as id,
      (select count(*) from follows f where f.followed_id = u.owner_id) as followers,
      (select count(*) from follows f where f.user_id = u.owner_id) as following,
      (select count(*) from repository_stars s where s.user_id = u.owner_id) as stars
     from users u where u.owner_id in (${userIds.map(() => '?').join()})`,
    userIds,
  )
  return new Map(rows.map((row) => [row.id, row]))
}
