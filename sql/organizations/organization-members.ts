/** Members of organizations, which are the members of their teams, and public memberships. */

import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { ownersVisibleTo, type Viewer } from '../repositories/visibility.js'

export interface MemberSearch {
  readonly organizationId: number
  /** Team that the users are members of; undefined for any. */
  readonly teamId?: number
  /** True for public members only. */
  readonly isPublic?: boolean
  /** Users that the viewer may not know of are left out; undefined to leave out none. */
  readonly viewer?: Viewer
}

/** Returns the members that match the search, oldest account first. */
export async function listMembers(
  db: Database,
  search: MemberSearch,
  page: Page,
): Promise<Paged<User>> {
  const { organizationId, teamId, isPublic = false, viewer } = search
  const seen = viewer === undefined ? undefined : ownersVisibleTo(viewer)
  const inTeam = teamId === undefined ? '' : 'and t.id = ?'
  const shown = isPublic
    ? `and u.owner_id in (select p.user_id from public_members p
        where p.organization_id = t.organization_id)`
    : ''
  const where = `${seen?.where ?? '1 = 1'} and exists (select 1 from team_members m join teams t on t.id = m.team_id
    where m.user_id = u.owner_id and t.organization_id = ? ${inTeam} ${shown})`
  const bindings = [
    ...(seen?.bindings ?? []),
    organizationId,
    ...(teamId === undefined ? [] : [teamId]),
  ]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from users u join owners o on o.id = u.owner_id where ${where}`,
    bindings,
  )
  const rows = await selectRows<UserRow>(
    db,
    `select ${USER_COLUMNS} from ${USER_TABLES} where ${where} order by o.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(userOf), total: count?.total ?? 0 }
}

/** Returns true if a user is a public member. */
export async function isPublicMember(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select 1 from public_members p where p.organization_id = ? and p.user_id = ?
      and exists (select 1 from team_members m join teams t on t.id = m.team_id
        where m.user_id = p.user_id and t.organization_id = p.organization_id)`,
    [organizationId, userId],
  )
  return rows.length > 0
}

/** Makes a membership public or hides it. */
export async function showMember(
  db: Database,
  { organizationId, userId, isPublic }: Membership,
): Promise<void> {
  const place = { organization_id: organizationId, user_id: userId }
  if (isPublic) {
    await db('public_members').insert(place).onConflict(['organization_id', 'user_id']).ignore()
    return
  }
  await db('public_members').where(place).delete()
}

interface Membership {
  readonly organizationId: number
  readonly userId: number
  readonly isPublic: boolean
}

/** Returns the names of organizations in which no other owner can sign in, ordered by name. */
export async function listSolelyOwned(db: Database, userId: number): Promise<readonly string[]> {
  const rows = await selectRows<{ name: string }>(
    db,
    `select distinct o.name as name from team_members m join teams t on t.id = m.team_id
      join owners o on o.id = t.organization_id where m.user_id = ? and t.permission = 'owner'
      and not exists (select 1 from team_members n join teams s on s.id = n.team_id
        join users u on u.owner_id = n.user_id and u.is_active = 1 and u.is_login_prohibited = 0
        where s.organization_id = t.organization_id and s.permission = 'owner'
        and n.user_id <> m.user_id) order by o.name`,
    [userId],
  )
  return rows.map(({ name }) => name)
}
