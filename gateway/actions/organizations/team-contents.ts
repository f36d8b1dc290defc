/** Who is in a team or an organization, and which repositories a team has: by their names. */

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

/** Throws `not_found` for whom the caller may not know. */
export async function takeIntoTeam(db: Database, grant: TeamGrant, name: string): Promise<void> {
  const member = await findVisibleUser(db, name, grant.user)
  await addTeamMember(db, grant.team.id, member.id)
}

/** Throws `not_found` for who is not in it, and `invalid` where no owner would be left. */
export async function takeOutOfTeam(db: Database, grant: TeamGrant, name: string): Promise<void> {
  const member = await findVisibleUser(db, name, grant.user)
  const place = { organizationId: grant.organization.id, teamId: grant.team.id }
  if (!(await removeMember(db, member.id, place))) throw notFound()
}

/** Throws `not_found` for who is not in it, and `invalid` where no owner would be left. */
export async function takeOutOfOrganization(
  db: Database,
  { organization, user }: OrganizationGrant,
  name: string,
): Promise<void> {
  const member = await findVisibleUser(db, name, user)
  if (!(await removeMember(db, member.id, { organizationId: organization.id }))) throw notFound()
}

/** Shows or hides that the caller is a member. Throws `not_found` where they are none. */
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

/** Those outside see who shows that they are members; a token for public things is outside. */
export function isOutside({ role, who }: Pick<OrganizationGrant, 'role' | 'who'>): boolean {
  return role === 'none' || viewerOf(who).kind === 'anyone'
}

/** The members that the caller may know of; `isPublic`: those alone who show that they are. */
export function visibleMembers(
  grant: OrganizationGrant,
  isPublic = isOutside(grant),
): MemberSearch {
  const search = { organizationId: grant.organization.id, isPublic }
  return isOutside(grant) ? { ...search, viewer: viewerOf(grant.who) } : search
}

/** How a repository is named. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

/** A team has repositories of its own organization alone. Throws `not_found` for any other. */
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

/** Throws `not_found` for a repository that is not of the organization. */
export async function giveToTeam(
  db: Database,
  grant: TeamGrant,
  name: RepositoryName,
): Promise<void> {
  const repository = await repositoryForTeam(db, grant, name)
  await addTeamRepository(db, grant.team.id, repository.id)
}

/** Throws `not_found` for a repository that the team was not given. */
export async function takeFromTeam(
  db: Database,
  grant: TeamGrant,
  name: RepositoryName,
): Promise<void> {
  const repository = await repositoryForTeam(db, grant, name)
  if (!(await removeTeamRepository(db, grant.team.id, repository.id))) throw notFound()
}
