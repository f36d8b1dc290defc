/** Access of users to repositories and packages, from which authorization is decided. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { Owner } from '../accounts/owners.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Repository } from './repositories.js'

/** Access modes in ascending order; each one includes those before it. */
const ACCESS_MODES = ['none', 'read', 'write', 'admin', 'owner'] as const

export type AccessMode = (typeof ACCESS_MODES)[number]

/** Returns true if `mode` includes `needed`. */
export function atLeast(mode: AccessMode, needed: AccessMode): boolean {
  return ACCESS_MODES.indexOf(mode) >= ACCESS_MODES.indexOf(needed)
}

/** Returns the highest of the modes, or 'none' if there are none. */
export function highestMode(modes: readonly AccessMode[]): AccessMode {
  return modes.reduce(higher, 'none')
}

/** Returns the lower of both modes. */
export function atMost(mode: AccessMode, most: AccessMode): AccessMode {
  return atLeast(mode, most) ? most : mode
}

/** Returns the access of `user`, or of an anonymous client, to a repository. */
export function accessToRepository(
  db: Database,
  user: User | undefined,
  repository: Repository,
): Awaitable<AccessMode> {
  if (user === undefined) return accessOfAnyone(repository, ['public'])
  if (!user.isActive || user.isLoginProhibited) return 'none'
  if (user.isAdmin || user.id === repository.owner.id) return 'owner'
  const { id, owner } = repository
  const values = [id, user.id, id, owner.id, user.id]
  return after(selectRows<GrantRow>(db, SELECT_GRANTS, values), (grants) =>
    grants
      .map((grant) => accessOfGrant(grant, repository))
      .reduce(higher, accessOfAnyone(repository, ['public', 'limited'])),
  )
}

/** Returns the access of `user`, or of an anonymous client, to each repository, by its id. */
export async function accessToRepositories(
  db: Database,
  user: User | undefined,
  repositories: readonly Repository[],
): Promise<ReadonlyMap<number, AccessMode>> {
  const modes = new Map<number, AccessMode>()
  const visible = user === undefined ? ['public'] : ['public', 'limited']
  const isOpen = user === undefined || (user.isActive && !user.isLoginProhibited)
  for (const repository of repositories) {
    const isOwn = user !== undefined && (user.isAdmin || user.id === repository.owner.id)
    const mode = isOwn ? 'owner' : accessOfAnyone(repository, visible)
    modes.set(repository.id, isOpen ? mode : 'none')
  }
  if (user === undefined || user.isAdmin || !isOpen || repositories.length === 0) return modes
  const byId = new Map(repositories.map((repository) => [repository.id, repository]))
  const places = `(${repositories.map(() => '?').join()})`
  const rows = await selectRows<GrantRow & { readonly id: number }>(
    db,
    `select repository_id as id, mode, 1 as includes_repository from collaborators
      where user_id = ? and repository_id in ${places}
      union all
      select r.id, t.permission, t.includes_all_repositories or g.team_id is not null
      from repositories r join teams t on t.organization_id = r.owner_id
      join team_members m on m.team_id = t.id
      left join team_repositories g on g.team_id = t.id and g.repository_id = r.id
      where m.user_id = ? and r.id in ${places}`,
    [user.id, ...byId.keys(), user.id, ...byId.keys()],
  )
  for (const row of rows) {
    const repository = byId.get(row.id)
    if (repository === undefined) continue
    modes.set(row.id, higher(modes.get(row.id) ?? 'none', accessOfGrant(row, repository)))
  }
  return modes
}

/** Returns the access of `user`, or of an anonymous client, to the packages of an owner. */
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
  /** 0 if the team has neither all repositories of its organization nor this one. */
  readonly includes_repository: number
}

const SELECT_GRANTS = `select mode, 1 as includes_repository from collaborators
  where repository_id = ? and user_id = ?
  union all
  select t.permission, t.includes_all_repositories or g.team_id is not null from team_members m
  join teams t on t.id = m.team_id
  left join team_repositories g on g.team_id = t.id and g.repository_id = ?
  where t.organization_id = ? and m.user_id = ?`

function accessOfGrant(grant: GrantRow, repository: Repository): AccessMode {
  // Members of any team can read the organization's repositories that are not private.
  const ofMember = repository.isPrivate ? 'none' : 'read'
  const holds = grant.includes_repository === 1 || grant.mode === 'owner'
  return holds ? higher(ofMember, grant.mode) : ofMember
}

function higher(one: AccessMode, other: AccessMode): AccessMode {
  return atLeast(one, other) ? one : other
}
