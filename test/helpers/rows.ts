/** Rows with default values, for tests that only need them to exist. */

import { randomUUID } from 'node:crypto'
import { newStorageKey } from '../../cgi/repository/paths.js'
import { createUser, type User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { createOrganization, type Organization } from '../../sql/organizations/organizations.js'
import { createRepository, type Repository } from '../../sql/repositories/repositories.js'

/** Creates a user with this name and the email address `name@example.test`. */
export async function aUser(db: Database, name: string): Promise<User> {
  return await createUser(db, {
    name,
    email: `${name}@example.test`,
    passwordHash: `hash of ${name}`,
    isAdmin: false,
  })
}

/** Creates an organization with this name, owned by `creatorId`. */
export async function anOrganization(
  db: Database,
  name: string,
  creatorId: number,
): Promise<Organization> {
  return await createOrganization(db, {
    name,
    fullName: `The ${name}`,
    email: '',
    description: '',
    website: '',
    location: '',
    visibility: 'public',
    repoAdminChangeTeamAccess: false,
    creatorId,
  })
}

/** Creates a repository with this name, public by default. */
export async function aRepository(
  db: Database,
  ownerId: number,
  name: string,
  changes: { readonly isPrivate?: boolean } = {},
): Promise<Repository> {
  return await createRepository(db, {
    ownerId,
    name,
    storage: newStorageKey(),
    description: '',
    website: '',
    isPrivate: false,
    isTemplate: false,
    isEmpty: true,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    preferences: {},
    ...changes,
  })
}

interface TeamInputs {
  readonly organizationId: number
  readonly permission: string
  /** Access to each unit, such as `repo.code`; by default, `permission` applies to all. */
  readonly units?: Readonly<Record<string, string>>
  readonly includesAll?: boolean
  readonly mayCreate?: boolean
  readonly memberIds: readonly number[]
}

/** Creates a team with these members. */
export async function aTeam(db: Database, inputs: TeamInputs): Promise<void> {
  const name = `team-${randomUUID()}`
  const [teamId] = await db('teams').insert({
    organization_id: inputs.organizationId,
    name,
    name_lower: name,
    permission: inputs.permission,
    units: inputs.units === undefined ? '' : JSON.stringify(inputs.units),
    includes_all_repositories: inputs.includesAll ?? false,
    can_create_repositories: inputs.mayCreate ?? false,
  })
  for (const userId of inputs.memberIds) {
    await db('team_members').insert({ team_id: teamId, user_id: userId })
  }
}

/** Adds a collaborator to a repository. */
export async function aCollaborator(
  db: Database,
  repository: Repository,
  user: User,
  mode: string,
): Promise<void> {
  await db('collaborators').insert({ repository_id: repository.id, user_id: user.id, mode })
}
