/** People who were let into a repository by name. */

import { listUsersWho } from '../accounts/user-lists.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Page, Paged } from '../database/page.js'
import type { AccessMode } from './access.js'
import type { Viewer } from './visibility.js'

/** What people are let in for, from least to most. */
export const COLLABORATOR_MODES = ['read', 'write', 'admin'] as const satisfies AccessMode[]

export type CollaboratorMode = (typeof COLLABORATOR_MODES)[number]

/** The collaborators of whom `viewer` may know, in the order in which their accounts were made. */
export async function listCollaborators(
  db: Database,
  { repositoryId, viewer }: { readonly repositoryId: number; readonly viewer: Viewer },
  page: Page,
): Promise<Paged<User>> {
  const where = 'u.owner_id in (select c.user_id from collaborators c where c.repository_id = ?)'
  return await listUsersWho(db, { viewer, fit: { where, bindings: [repositoryId] } }, page)
}

/** What each of these users was let in for by name, if at all; more may come by a team. */
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

/** Whether the user was let in by name. */
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

/** Lets a user in, or changes what they were let in for. */
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

/** Shuts a user out again. */
export async function removeCollaborator(
  db: Database,
  repositoryId: number,
  userId: number,
): Promise<void> {
  await db('collaborators').where({ repository_id: repositoryId, user_id: userId }).delete()
}
