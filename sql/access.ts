/** What a person may do with a repository: the facts on which the gate decides. */

import type { Database } from './database.js'
import { selectRows } from './dialect.js'
import type { Repository } from './repositories.js'
import type { Owner, User } from './users.js'

/** From least to most; each holds what stands before it. */
const ACCESS_MODES = ['none', 'read', 'write', 'admin', 'owner'] as const

export type AccessMode = (typeof ACCESS_MODES)[number]

/** Whether `mode` is as much as `needed`, or more. */
export function atLeast(mode: AccessMode, needed: AccessMode): boolean {
  return ACCESS_MODES.indexOf(mode) >= ACCESS_MODES.indexOf(needed)
}

/** The most that `user`, or anyone without an account, may do with the repository. */
export async function accessToRepository(
  db: Database,
  user: User | undefined,
  repository: Repository,
): Promise<AccessMode> {
  if (user === undefined) return accessOfAnyone(repository, ['public'])
  if (!user.isActive || user.isLoginProhibited) return 'none'
  if (user.isAdmin || user.id === repository.owner.id) return 'owner'
  const grants = await selectRows<GrantRow>(db, SELECT_GRANTS, [
    repository.id,
    user.id,
    repository.owner.id,
    user.id,
  ])
  return grants
    .map((grant) => accessOfGrant(grant, repository))
    .reduce(higher, accessOfAnyone(repository, ['public', 'limited']))
}

/** The most that `user`, or anyone without an account, may do with the packages of an owner. */
export async function accessToPackages(
  db: Database,
  user: User | undefined,
  owner: Owner,
): Promise<AccessMode> {
  if (user === undefined) return owner.visibility === 'public' ? 'read' : 'none'
  if (!user.isActive || user.isLoginProhibited) return 'none'
  if (user.isAdmin || user.id === owner.id) return 'owner'
  const ofAnyone = owner.visibility === 'private' ? 'none' : 'read'
  if (owner.kind === 'user') return ofAnyone
  const teams = await selectRows<{ mode: AccessMode }>(db, SELECT_TEAM_MODES, [owner.id, user.id])
  return teams.map(({ mode }) => higher('read', mode)).reduce(higher, ofAnyone)
}

const SELECT_TEAM_MODES = `select t.permission as mode from team_members m
  join teams t on t.id = m.team_id where t.organization_id = ? and m.user_id = ?`

function accessOfAnyone(repository: Repository, visible: readonly string[]): AccessMode {
  return !repository.isPrivate && visible.includes(repository.owner.visibility) ? 'read' : 'none'
}

interface GrantRow {
  readonly mode: AccessMode
  /** 0: the team has to be given each repository. */
  readonly includes_repository: number
}

const SELECT_GRANTS = `select mode, 1 as includes_repository from collaborators
  where repository_id = ? and user_id = ?
  union all
  select t.permission, t.includes_all_repositories from team_members m
  join teams t on t.id = m.team_id where t.organization_id = ? and m.user_id = ?`

function accessOfGrant(grant: GrantRow, repository: Repository): AccessMode {
  // Whoever is in any team sees what the organization does not keep private within itself.
  const ofMember = repository.isPrivate ? 'none' : 'read'
  const holds = grant.includes_repository === 1 || grant.mode === 'owner'
  return holds ? higher(ofMember, grant.mode) : ofMember
}

function higher(one: AccessMode, other: AccessMode): AccessMode {
  return atLeast(one, other) ? one : other
}
