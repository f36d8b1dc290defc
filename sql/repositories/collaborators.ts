/** Collaborators of repositories. */

import { listUsersWho } from '../accounts/user-lists.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Page, Paged } from '../database/page.js'
import type { AccessMode } from './access.js'
import type { Viewer } from './visibility.js'

/** Permissions of collaborators in ascending order. */
export const COLLABORATOR_MODES = ['read', 'write', 'admin'] as const satisfies AccessMode[]

export type CollaboratorMode = (typeof COLLABORATOR_MODES)[number]

/** Returns the collaborators that `viewer` may know of, oldest account first. */
export async function listCollaborators(
  db: Database,
  { repositoryId, viewer }: { readonly repositoryId: number; readonly viewer: Viewer },
  page: Page,
): Promise<Paged<User>> {
  const where = 'u.owner_id in (select c.user_id from collaborators c where c.repository_id = ?)'
  return await listUsersWho(db, { viewer, fit: { where, bindings: [repositoryId] } }, page)
}

/**
 * Returns the permission of each of these users as a collaborator; others are left out. A team may
 * grant more.
 */
export async function collaboratorModes(
  db: Database,
  repositoryId: number,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, CollaboratorMode>> {
  if (userIds.length === 0) return new Map()
  const rows = await selectRows<{ readonly user_id: number; readonly mode: CollaboratorMode }>(
    db,
    `select user_id, mode from collaborators where repository_id = ?
      and user_id in (${userIds.map(() => '?').join()})`,
    [repositoryId, ...userIds],
  )
  return new Map(rows.map(({ user_id, mode }) => [user_id, mode]))
}

/** Returns true if the user is a collaborator. */
export async function isCollaborator(
  db: Database,
  repositoryId: number,
  userId: number,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    'select 1 from collaborators where repository_id = ? and user_id = ?',
    [repositoryId, userId],
  )
  return rows.length > 0
}

/** Adds a collaborator, or changes the permission of one. */
export async function setCollaborator(
  db: Database,
  { repositoryId, userId, mode }: Collaboration,
): Promise<void> {
  await db('collaborators')
    .insert({ repository_id: repositoryId, user_id: userId, mode })
    .onConflict(['repository_id', 'user_id'])
    .merge(['mode'])
}

interface Collaboration {
  readonly repositoryId: number
  readonly userId: number
  readonly mode: CollaboratorMode
}

/** Removes a collaborator. */
export async function removeCollaborator(
  db: Database,
  repositoryId: number,
  userId: number,
): Promise<void> {
  await db('collaborators').where({ repository_id: repositoryId, user_id: userId }).delete()
}
