/** Organizations: owners that are run by the members of teams. */

import { Failure } from '../../conf/failures.js'
import {
  insertOwner,
  OWNER_COLUMNS,
  type Owner,
  type OwnerPatch,
  type OwnerRow,
  ownerOf,
  presentColumns,
  updateOwner,
  type Visibility,
} from '../accounts/owners.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { deleteEmptyPackages } from '../packages/packages.js'
import {
  type AccessMode,
  highestMode,
  teamPermission,
  teamRightsOf,
} from '../repositories/access.js'
import { ownersVisibleTo, type Viewer } from '../repositories/visibility.js'

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
  /** User who becomes the first owner. */
  readonly creatorId: number
}

export type OrganizationRole = 'owner' | 'member' | 'none'

const OWNERS_TEAM = 'Owners'

/** Creates an organization owned by its creator. Throws `conflict` if the name is taken. */
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
    if (created === undefined) throw new Error('The inserted organization was not found.')
    return created
  })
}

/** Returns the organization with that name. Case is ignored. */
export async function findOrganization(
  db: Database,
  name: string,
): Promise<Organization | undefined> {
  const where = 'where o.name_lower = ?'
  const [row] = await selectRows<OrganizationRow>(db, `${SELECT} ${where}`, [foldCase(name)])
  return row === undefined ? undefined : organizationOf(row)
}

/** Returns the organization with that id. */
export async function findOrganizationById(
  db: Database,
  organizationId: number,
): Promise<Organization | undefined> {
  const [row] = await selectRows<OrganizationRow>(db, `${SELECT} where o.id = ?`, [organizationId])
  return row === undefined ? undefined : organizationOf(row)
}

/** Returns the organizations with those ids; ids without an organization are left out. */
export async function findOrganizationsById(
  db: Database,
  organizationIds: readonly number[],
): Promise<readonly Organization[]> {
  if (organizationIds.length === 0) return []
  const places = organizationIds.map(() => '?').join()
  const where = `where o.id in (${places})`
  const rows = await selectRows<OrganizationRow>(db, `${SELECT} ${where}`, organizationIds)
  return rows.map(organizationOf)
}

export interface OrganizationSearch {
  /** Organizations that the viewer may not know of are left out. */
  readonly viewer: Viewer
  /** User who must be a member. */
  readonly memberId?: number
  /** True if the membership must be public. */
  readonly isShown?: boolean
}

/** Returns the organizations that match the search, oldest first. */
export async function listOrganizations(
  db: Database,
  { viewer, memberId, isShown = false }: OrganizationSearch,
  page: Page,
): Promise<Paged<Organization>> {
  const seen = ownersVisibleTo(viewer)
  const ofMember = isShown ? `${SELECT_OF_MEMBER} and ${IS_SHOWN}` : SELECT_OF_MEMBER
  const member = memberId === undefined ? '' : `and o.id in (${ofMember})`
  const where = `where ${seen.where} ${member}`
  const bindings = [...seen.bindings, ...(memberId === undefined ? [] : [memberId])]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from organizations g join owners o on o.id = g.owner_id ${where}`,
    bindings,
  )
  const rows = await selectRows<OrganizationRow>(
    db,
    `${SELECT} ${where} order by o.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(organizationOf), total: count?.total ?? 0 }
}

const SELECT_OF_MEMBER = `select t.organization_id from team_members m
  join teams t on t.id = m.team_id where m.user_id = ?`

const IS_SHOWN = `exists (select 1 from public_members p
  where p.organization_id = t.organization_id and p.user_id = m.user_id)`

/** Changes to an organization; absent fields keep their value. */
export type OrganizationPatch = OwnerPatch & {
  readonly email?: string | undefined
  readonly repoAdminChangeTeamAccess?: boolean | undefined
}

export async function updateOrganization(
  db: Database,
  organizationId: number,
  patch: OrganizationPatch,
): Promise<void> {
  await transaction(db, async (trx) => {
    await updateOwner(trx, organizationId, patch)
    const columns = presentColumns({
      email: patch.email,
      repo_admin_change_team_access: patch.repoAdminChangeTeamAccess,
    })
    if (Object.keys(columns).length === 0) return
    await trx('organizations').where({ owner_id: organizationId }).update(columns)
  })
}

/** Deletes an organization with its teams. Throws `invalid` if it owns repositories or packages. */
export async function deleteOrganization(db: Database, organizationId: number): Promise<void> {
  try {
    await transaction(db, async (trx) => {
      await deleteEmptyPackages(trx, organizationId)
      await trx('owners').where({ id: organizationId, kind: 'organization' }).delete()
    })
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
    const message = 'The organization still owns repositories or packages.'
    throw new Failure('invalid', message, { cause: error })
  }
}

const SELECT = `select ${OWNER_COLUMNS}, g.email as organization_email,
  g.repo_admin_change_team_access as organization_repo_admin_change_team_access
  from organizations g join owners o on o.id = g.owner_id`

interface OrganizationRow extends OwnerRow {
  readonly organization_email: string
  readonly organization_repo_admin_change_team_access: number
}

function organizationOf(row: OrganizationRow): Organization {
  return {
    ...ownerOf(row),
    kind: 'organization',
    email: row.organization_email,
    repoAdminChangeTeamAccess: row.organization_repo_admin_change_team_access === 1,
  }
}

/** Returns the role of a user in an organization. */
export async function organizationRole(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<OrganizationRole> {
  const teams = await teamsOf(db, organizationId, userId)
  if (teams.some((team) => team.permission === 'owner')) return 'owner'
  return teams.length > 0 ? 'member' : 'none'
}

/** Returns the highest permission in the API that the user's teams in the organization have. */
export async function organizationMode(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<AccessMode> {
  const teams = await teamsOf(db, organizationId, userId)
  return highestMode(teams.map((row) => teamPermission(teamRightsOf(row))))
}

/** Returns true if a team of the user can create repositories in the organization. */
export async function mayCreateRepositories(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<boolean> {
  const teams = await teamsOf(db, organizationId, userId)
  return teams.some((team) => team.permission === 'owner' || team.can_create_repositories === 1)
}

interface TeamRow {
  readonly permission: AccessMode
  readonly units: string
  readonly can_create_repositories: number
}

async function teamsOf(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<readonly TeamRow[]> {
  return await selectRows<TeamRow>(
    db,
    `select t.permission, t.units, t.can_create_repositories from team_members m
     join teams t on t.id = m.team_id where t.organization_id = ? and m.user_id = ?`,
    [organizationId, userId],
  )
}
