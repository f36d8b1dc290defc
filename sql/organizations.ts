/** Organizations: owners that people run together, in teams. */

import { foldCase } from './bindings.js'
import { type Database, transaction } from './database.js'
import { selectRows } from './dialect.js'
import {
  insertOwner,
  OWNER_COLUMNS,
  type Owner,
  type OwnerRow,
  ownerOf,
  type Visibility,
} from './users.js'

export interface Organization extends Owner {
  readonly kind: 'organization'
  readonly email: string
  readonly repoAdminChangeTeamAccess: boolean
}

export interface NewOrganization {
  readonly name: string
  readonly fullName: string
  readonly email: string
  readonly description: string
  readonly website: string
  readonly location: string
  readonly visibility: Visibility
  readonly repoAdminChangeTeamAccess: boolean
  /** The user who becomes the first of its owners. */
  readonly creatorId: number
}

export type OrganizationRole = 'owner' | 'member' | 'none'

const OWNERS_TEAM = 'Owners'

/** Makes an organization that its creator owns. Throws `conflict` when the name is taken. */
export async function createOrganization(
  db: Database,
  organization: NewOrganization,
): Promise<Organization> {
  return await transaction(db, async (trx) => {
    const id = await insertOwner(trx, {
      kind: 'organization',
      name: organization.name,
      fullName: organization.fullName,
      description: organization.description,
      website: organization.website,
      location: organization.location,
      visibility: organization.visibility,
    })
    await trx('organizations').insert({
      owner_id: id,
      email: organization.email,
      repo_admin_change_team_access: organization.repoAdminChangeTeamAccess,
    })
    const [teamId] = await trx('teams').insert({
      organization_id: id,
      name: OWNERS_TEAM,
      name_lower: foldCase(OWNERS_TEAM),
      permission: 'owner',
      includes_all_repositories: true,
      can_create_repositories: true,
    })
    await trx('team_members').insert({ team_id: teamId, user_id: organization.creatorId })
    const created = await findOrganization(trx, organization.name)
    if (created === undefined) throw new Error('an organization just made cannot be found')
    return created
  })
}

/** The organization of that name, in whatever case it is written. */
export async function findOrganization(
  db: Database,
  name: string,
): Promise<Organization | undefined> {
  const [row] = await selectRows<OrganizationRow>(db, SELECT_ORGANIZATION, [foldCase(name)])
  if (row === undefined) return undefined
  return {
    ...ownerOf(row),
    kind: 'organization',
    email: row.organization_email,
    repoAdminChangeTeamAccess: row.organization_repo_admin_change_team_access === 1,
  }
}

const SELECT_ORGANIZATION = `select ${OWNER_COLUMNS}, g.email as organization_email,
  g.repo_admin_change_team_access as organization_repo_admin_change_team_access
  from organizations g join owners o on o.id = g.owner_id where o.name_lower = ?`

interface OrganizationRow extends OwnerRow {
  readonly organization_email: string
  readonly organization_repo_admin_change_team_access: number
}

/** What a user is to an organization. */
export async function organizationRole(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<OrganizationRole> {
  const teams = await teamsOf(db, organizationId, userId)
  if (teams.some((team) => team.permission === 'owner')) return 'owner'
  return teams.length > 0 ? 'member' : 'none'
}

/** Whether a team of the user may make repositories for the organization. */
export async function mayCreateRepositories(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<boolean> {
  const teams = await teamsOf(db, organizationId, userId)
  return teams.some((team) => team.permission === 'owner' || team.can_create_repositories === 1)
}

interface TeamRow {
  readonly permission: string
  readonly can_create_repositories: number
}

async function teamsOf(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<readonly TeamRow[]> {
  return await selectRows<TeamRow>(
    db,
    `select t.permission, t.can_create_repositories from team_members m
     join teams t on t.id = m.team_id where t.organization_id = ? and m.user_id = ?`,
    [organizationId, userId],
  )
}
