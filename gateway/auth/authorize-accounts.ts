/** Authorization for organizations, teams and the administration of the site. */

import { Failure, notFound } from '../../conf/failures.js'
import { findOwner, findOwnersById, type Owner } from '../../sql/accounts/owners.js'
import { findUser, type User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import {
  findOrganization,
  findOrganizationById,
  mayCreateRepositories,
  type Organization,
  type OrganizationRole,
  organizationRole,
} from '../../sql/organizations/organizations.js'
import { findTeam, findTeamByName, isTeamMember, type Team } from '../../sql/organizations/teams.js'
import {
  findPendingTransfer,
  isOffered,
  type PendingTransfer,
} from '../../sql/repositories/pending-transfers.js'
import type { Identity } from './authenticate.js'
import { refuseBlockedBy } from './authorize-blocked.js'
import { isBound, limited } from './limits.js'
import { readId, refuseAnonymous, refusePublicOnly, signedIn } from './refusals.js'

/** Role in an organization that a route requires, from least to most. */
export type OrganizationNeed = 'visible' | 'member' | 'owner'

export interface OrganizationGrant {
  readonly who: Identity
  /** Absent for an anonymous caller. */
  readonly user: User | undefined
  readonly organization: Organization
  /** Role of the caller; a site administrator is an owner of every organization. */
  readonly role: OrganizationRole
}

interface OrganizationQuery {
  readonly name: string
  readonly role: OrganizationNeed
  readonly isSignedIn?: true
}

/** Authorizes a caller with the required role in the organization of that name, or throws. */
export async function authorizeOrganization(
  db: Database,
  who: Identity,
  { name, role: needed, isSignedIn }: OrganizationQuery,
): Promise<OrganizationGrant> {
  if (needed !== 'visible' || isSignedIn) refuseAnonymous(who)
  const organization = await findOrganization(db, name)
  if (organization === undefined) throw notFound()
  const role = await visibleRole(db, who, organization)
  // Data for members is not public, so tokens for public data are refused.
  if (needed !== 'visible') refusePublicOnly(who)
  if (needed === 'member' && role === 'none') {
    throw new Failure('forbidden', 'Must be an organization member')
  }
  if (needed === 'owner' && role !== 'owner') {
    throw new Failure('forbidden', 'Must be an organization owner')
  }
  const user = who.kind === 'user' ? who.user : undefined
  return { who, user, organization, role }
}

/** Returns the caller's role. Throws `not_found` if the caller cannot see the organization. */
async function visibleRole(
  db: Database,
  who: Identity,
  organization: Organization,
): Promise<OrganizationRole> {
  const { visibility } = organization
  if (who.kind !== 'user') {
    if (visibility !== 'public') throw notFound()
    return 'none'
  }
  const role = await roleIn(db, who, organization)
  if (visibility === 'private' && role === 'none') throw notFound()
  refusePublicOnly(who, organization)
  return role
}

/** Returns the caller's role in an organization, or `none` if the owner is a user. */
export async function roleIn(db: Database, who: Identity, owner: Owner): Promise<OrganizationRole> {
  if (owner.kind === 'user' || who.kind !== 'user') return 'none'
  return who.user.isAdmin ? 'owner' : await organizationRole(db, owner.id, who.user.id)
}

/** Returns the account of that name. Throws `not_found` also if the caller cannot see it. */
export async function visibleOwner(db: Database, who: Identity, name: string): Promise<Owner> {
  const organization = await findOrganization(db, name)
  if (organization !== undefined) {
    await visibleRole(db, who, organization)
    return organization
  }
  const user = await findUser(db, name)
  const viewer = who.kind === 'user' ? who.user : undefined
  if (user === undefined || !isVisibleUser(user, viewer)) throw notFound()
  refusePublicOnly(who, user)
  return user
}

function isVisibleUser(user: User, viewer: User | undefined): boolean {
  if (user.visibility === 'public') return true
  if (viewer === undefined) return false
  return user.visibility === 'limited' || viewer.isAdmin || viewer.id === user.id
}

export interface TeamGrant {
  readonly who: Identity
  readonly user: User
  readonly organization: Organization
  readonly team: Team
  /** Role of the caller in the organization. */
  readonly role: OrganizationRole
}

interface TeamQuery {
  readonly role: 'member' | 'owner'
  readonly isByName?: true
  readonly params: Readonly<Record<string, string>>
}

/**
 * Authorizes an owner of the organization of the team that the path names or, unless `owner` is
 * required, a member of the team. Throws for others.
 */
export async function authorizeTeam(
  db: Database,
  who: Identity,
  { role: needed, ...question }: TeamQuery,
): Promise<TeamGrant> {
  const { user } = signedIn(who)
  const team = await namedTeam(db, question)
  const organization = team && (await findOrganizationById(db, team.organizationId))
  if (team === undefined || organization === undefined) throw notFound()
  const role = await visibleRole(db, who, organization)
  // Callers outside the organization must not learn anything about teams, not even their ids.
  if (role === 'none') throw notFound()
  refusePublicOnly(who)
  if (role !== 'owner' && needed === 'owner') {
    throw new Failure('forbidden', 'Must be an organization owner')
  }
  if (role !== 'owner' && !(await isTeamMember(db, team.id, user.id))) {
    throw new Failure('forbidden', 'Must be a team member')
  }
  return { who, user, organization, team, role }
}

async function namedTeam(
  db: Database,
  { isByName, params }: Omit<TeamQuery, 'role'>,
): Promise<Team | undefined> {
  if (isByName) {
    const organization = await findOrganization(db, params['org'] ?? '')
    return organization && (await findTeamByName(db, organization.id, params['team'] ?? ''))
  }
  const id = readId(params['id'] ?? '')
  return id === undefined ? undefined : await findTeam(db, id)
}

/** Authorizes a site administrator, or throws. */
export function authorizeAdministrator(
  who: Identity,
  { isHidden }: { readonly isHidden?: true },
): { readonly who: Identity; readonly user: User } {
  if (isHidden && !(who.kind === 'user' && who.user.isAdmin)) throw notFound()
  const { user } = signedIn(who)
  if (!user.isAdmin) throw new Failure('forbidden', 'user should be the site admin')
  refusePublicOnly(who)
  return { who, user }
}

/**
 * Returns the account of that name if the caller may create repositories in it: the caller's own,
 * an organization in which one of the caller's teams has that right, or any account for site
 * administrators. Throws `not_found` and `forbidden`.
 */
export async function findOwnerForNewRepository(
  db: Database,
  who: Identity,
  name: string,
): Promise<Owner> {
  const { user } = signedIn(who)
  refusePublicOnly(who)
  if (isBound(who)) throw limited()
  const owner = await findOwner(db, name)
  if (owner === undefined) throw notFound()
  if (owner.id === user.id || user.isAdmin) return owner
  if (await mayCreateRepositories(db, owner.id, user.id)) return owner
  const isMember = (await organizationRole(db, owner.id, user.id)) !== 'none'
  if (owner.visibility === 'private' && !isMember) throw notFound()
  throw new Failure('forbidden', 'Given user is not allowed to create repository in organization.')
}

/** New owner of a repository, and whether the transfer needs no answer of that owner. */
export interface TransferTarget {
  readonly owner: Owner
  readonly isImmediate: boolean
}

/**
 * Authorizes the caller, who owns the repository, to transfer it to the owner of that name, who has
 * to accept unless the caller can create repositories there. Throws `not_found` for an owner whom
 * the caller cannot see, and `forbidden` if the new owner blocks the caller or the present owner
 * blocks the new one.
 */
export async function authorizeTransfer(
  db: Database,
  who: Identity,
  { name, from }: { readonly name: string; readonly from: Owner },
): Promise<TransferTarget> {
  const { user } = signedIn(who)
  refusePublicOnly(who)
  if (isBound(who)) throw limited()
  const owner = await findOwner(db, name)
  if (owner === undefined) throw notFound(NO_NEW_OWNER)
  if (owner.id === user.id || user.isAdmin) return { owner, isImmediate: true }
  const isMember = (await organizationRole(db, owner.id, user.id)) !== 'none'
  if (owner.visibility === 'private' && !isMember) throw notFound(NO_NEW_OWNER)
  if (await mayCreateRepositories(db, owner.id, user.id)) return { owner, isImmediate: true }
  await refuseBlockedBy(db, user, [owner.id])
  if (owner.kind === 'user') await refuseBlockedBy(db, owner, [from.id])
  return { owner, isImmediate: false }
}

const NO_NEW_OWNER = 'The new owner does not exist or cannot be found'

/**
 * Authorizes the caller to accept or reject the pending transfer of a repository. Throws
 * `not_found` if there is none, and `forbidden` if it is for another owner.
 */
export async function authorizeTransferAnswer(
  db: Database,
  who: Identity,
  repositoryId: number,
): Promise<PendingTransfer> {
  const { user } = signedIn(who)
  refusePublicOnly(who)
  if (isBound(who)) throw limited()
  const pending = await findPendingTransfer(db, repositoryId)
  if (pending === undefined) throw notFound('The repository has no pending transfer.')
  if (await isOffered(db, repositoryId, user.id)) return pending
  throw new Failure('forbidden', 'The pending transfer is for another owner.')
}

/**
 * Returns the owner of a repository that a user may create, from the body of a request: by name or,
 * for old clients, by id; by default the user. Throws `invalid` for an owner who does not exist or
 * whom the user cannot see, and `forbidden`.
 */
export async function authorizeNewOwner(
  db: Database,
  user: User,
  { name, id }: { readonly name: string; readonly id: number },
): Promise<Owner> {
  if (name === '' && id === 0) return user
  const owner = name === '' ? (await findOwnersById(db, [id])).get(id) : await findOwner(db, name)
  if (owner !== undefined && (user.isAdmin || owner.id === user.id)) return owner
  const isMember =
    owner?.kind === 'organization' && (await organizationRole(db, owner.id, user.id)) !== 'none'
  if (owner === undefined || (owner.visibility === 'private' && !isMember)) {
    throw new Failure('invalid', `user does not exist [uid: ${id}, name: ${name}]`)
  }
  if (owner.kind !== 'organization') {
    throw new Failure('forbidden', 'Given user is not an organization.')
  }
  if (await mayCreateRepositories(db, owner.id, user.id)) return owner
  throw new Failure('forbidden', 'Given user is not owner of organization.')
}
