/** Members of teams and organizations, and repositories of teams, by their names. */

import { notFound } from '../../../conf/failures.js'
import type { Database } from '../../../sql/database/database.js'
import { type MemberSearch, showMember } from '../../../sql/organizations/organization-members.js'
import { organizationRole } from '../../../sql/organizations/organizations.js'
import {
  addTeamMember,
  addTeamRepository,
  removeMember,
  removeTeamRepository,
} from '../../../sql/organizations/teams.js'
import { findRepository, type Repository } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'

type TeamGrant = Grants['team']
type OrganizationGrant = Grants['organization']

/** Adds a user to a team. Throws `not_found` for a user that the caller cannot see. */
export async function takeIntoTeam(db: Database, grant: TeamGrant, name: string): Promise<void> {
  const member = await findVisibleUser(db, name, grant.user)
  await addTeamMember(db, grant.team.id, member.id)
}

/**
 * Removes a user from a team. Throws `not_found` if the user is not a member, or if the caller
 * cannot see the user, and `invalid` for the last owner of the organization.
 */
export async function takeOutOfTeam(db: Database, grant: TeamGrant, name: string): Promise<void> {
  const member = await findVisibleUser(db, name, grant.user)
  const place = { organizationId: grant.organization.id, teamId: grant.team.id }
  if (!(await removeMember(db, member.id, place))) throw notFound()
}

/** Removes a user from all teams of an organization. Throws as `takeOutOfTeam` does. */
export async function takeOutOfOrganization(
  db: Database,
  { organization, user }: OrganizationGrant,
  name: string,
): Promise<void> {
  const member = await findVisibleUser(db, name, user)
  if (!(await removeMember(db, member.id, { organizationId: organization.id }))) throw notFound()
}

/** Makes the caller's membership public or hides it. Throws `not_found` if there is none. */
export async function showMembership(
  db: Database,
  { organization, user }: OrganizationGrant,
  isPublic: boolean,
): Promise<void> {
  if (user === undefined) throw notFound()
  const place = { organizationId: organization.id, userId: user.id }
  if ((await organizationRole(db, place.organizationId, place.userId)) === 'none') throw notFound()
  await showMember(db, { ...place, isPublic })
}

/**
 * True if the caller sees only public members: the caller is not a member, or has a token that is
 * limited to public data.
 */
export function isOutside({ role, who }: Pick<OrganizationGrant, 'role' | 'who'>): boolean {
  return role === 'none' || viewerOf(who).kind === 'anyone'
}

/**
 * Returns the search for the members that the caller can see. `isPublic` is true for public members
 * only.
 */
export function visibleMembers(
  grant: OrganizationGrant,
  isPublic = isOutside(grant),
): MemberSearch {
  const search = { organizationId: grant.organization.id, isPublic }
  return isOutside(grant) ? { ...search, viewer: viewerOf(grant.who) } : search
}

export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

/** Finds a repository of the team's organization. Throws `not_found` for any other. */
export async function repositoryForTeam(
  db: Database,
  { organization }: TeamGrant,
  { owner, name }: RepositoryName,
): Promise<Repository> {
  const repository = await findRepository(db, owner, name)
  if (repository?.owner.id !== organization.id) {
    throw notFound()
  }
  return repository
}

/** Adds a repository to a team. Throws `not_found` unless the organization owns it. */
export async function giveToTeam(
  db: Database,
  grant: TeamGrant,
  name: RepositoryName,
): Promise<void> {
  const repository = await repositoryForTeam(db, grant, name)
  await addTeamRepository(db, grant.team.id, repository.id)
}

/** Removes a repository from a team. Throws `not_found` if the team does not have it. */
export async function takeFromTeam(
  db: Database,
  grant: TeamGrant,
  name: RepositoryName,
): Promise<void> {
  const repository = await repositoryForTeam(db, grant, name)
  if (!(await removeTeamRepository(db, grant.team.id, repository.id))) throw notFound()
}
