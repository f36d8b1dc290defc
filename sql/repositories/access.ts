/** Access of users to repositories and packages, from which authorization is decided. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { Owner } from '../accounts/owners.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isOffered } from './pending-transfers.js'
import type { Repository } from './repositories.js'
import { REPOSITORY_UNITS, type RepositoryUnit } from './team-units.js'

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

/** Access to each unit of a repository; `any` is the highest of them. */
export type RepositoryModes = Readonly<Record<RepositoryUnit | 'any', AccessMode>>

/** Returns the same access to each unit. */
export function everyUnit(mode: AccessMode): RepositoryModes {
  return EVERY_UNIT[mode]
}

const EVERY_UNIT = Object.fromEntries(
  ACCESS_MODES.map((mode) => [mode, modesOf(() => mode)]),
) as Readonly<Record<AccessMode, RepositoryModes>>

/** Returns the access to each unit, from that of one. */
function modesOf(modeOf: (unit: RepositoryUnit) => AccessMode): RepositoryModes {
  const modes = REPOSITORY_UNITS.map((unit) => [unit, modeOf(unit)] as const)
  const any = highestMode(modes.map(([, mode]) => mode))
  return Object.fromEntries([['any', any], ...modes]) as Record<keyof RepositoryModes, AccessMode>
}

/** Returns the access to each unit, lowered to `most`. */
export function atMostInEachUnit(modes: RepositoryModes, most: AccessMode): RepositoryModes {
  return modesOf((unit) => atMost(modes[unit], most))
}

/** Returns the access of `user`, or of an anonymous client, to the units of a repository. */
export function accessToRepository(
  db: Database,
  user: User | undefined,
  repository: Repository,
): Awaitable<RepositoryModes> {
  if (user === undefined) return everyUnit(accessOfAnyone(repository, ['public']))
  if (!user.isActive || user.isLoginProhibited) return everyUnit('none')
  if (user.isAdmin || user.id === repository.owner.id) return everyUnit('owner')
  const { id, owner } = repository
  const values = [id, user.id, id, owner.id, user.id]
  return after(selectRows<GrantRow>(db, SELECT_GRANTS, values), (grants) => {
    const modes = unite(grants, repository, accessOfAnyone(repository, ['public', 'limited']))
    if (modes.any !== 'none') return modes
    // Recipients of a pending transfer can read the repository that they are offered.
    return after(isOffered(db, id, user.id), (isRecipient) =>
      isRecipient ? everyUnit('read') : modes,
    )
  })
}

/** Returns the access of `user`, or of an anonymous client, to each repository, by its id. */
export async function accessToRepositories(
  db: Database,
  user: User | undefined,
  repositories: readonly Repository[],
): Promise<ReadonlyMap<number, RepositoryModes>> {
  const visible = user === undefined ? ['public'] : ['public', 'limited']
  const isOpen = user === undefined || (user.isActive && !user.isLoginProhibited)
  const modeWithoutGrants = (repository: Repository): AccessMode => {
    if (!isOpen) return 'none'
    const isOwn = user !== undefined && (user.isAdmin || user.id === repository.owner.id)
    return isOwn ? 'owner' : accessOfAnyone(repository, visible)
  }
  const isGranted = user !== undefined && !user.isAdmin && isOpen && repositories.length > 0
  const grants = isGranted ? await grantsOf(db, user, repositories) : []
  return new Map(
    repositories.map((repository) => [
      repository.id,
      unite(
        grants.filter(({ id }) => id === repository.id),
        repository,
        modeWithoutGrants(repository),
      ),
    ]),
  )
}

/** Returns the grants of a user to repositories, with the repository's id. */
async function grantsOf(
  db: Database,
  user: User,
  repositories: readonly Repository[],
): Promise<readonly (GrantRow & { readonly id: number })[]> {
  const ids = repositories.map(({ id }) => id)
  const places = `(${ids.map(() => '?').join()})`
  return await selectRows<GrantRow & { readonly id: number }>(
    db,
    `select repository_id as id, mode as permission, '' as units, 1 as includes_repository from collaborators
      where user_id = ? and repository_id in ${places}
      union all
      select r.id, t.permission, t.units, t.includes_all_repositories or g.team_id is not null
      from repositories r join teams t on t.organization_id = r.owner_id
      join team_members m on m.team_id = t.id
      left join team_repositories g on g.team_id = t.id and g.repository_id = r.id
      where m.user_id = ? and r.id in ${places}`,
    [user.id, ...ids, user.id, ...ids],
  )
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
  const teams = await selectRows<TeamRow>(db, SELECT_TEAMS, [owner.id, user.id])
  const modes = teams.map((row) => teamMode(teamRightsOf(row), 'packages'))
  // Members of any team can read the organization's packages.
  return highestMode([ofAnyone, ...(teams.length > 0 ? ['read' as const] : []), ...modes])
}

const SELECT_TEAMS = `select t.permission, t.units from team_members m
  join teams t on t.id = m.team_id where t.organization_id = ? and m.user_id = ?`

function accessOfAnyone(repository: Repository, visible: readonly string[]): AccessMode {
  return !repository.isPrivate && visible.includes(repository.owner.visibility) ? 'read' : 'none'
}

interface TeamRow {
  readonly permission: AccessMode
  /** The team's access to each unit, as stored: JSON, or empty. */
  readonly units: string
}

interface GrantRow extends TeamRow {
  /** 0 if the team has neither all repositories of its organization nor this one. */
  readonly includes_repository: number
}

const SELECT_GRANTS = `select mode as permission, '' as units, 1 as includes_repository from collaborators
  where repository_id = ? and user_id = ?
  union all
  select t.permission, t.units, t.includes_all_repositories or g.team_id is not null
  from team_members m join teams t on t.id = m.team_id
  left join team_repositories g on g.team_id = t.id and g.repository_id = ?
  where t.organization_id = ? and m.user_id = ?`

/**
 * Returns the access to each unit: the highest of all grants, and of the access without them. Pull
 * requests show code, so there is no access to them without access to code.
 */
function unite(
  grants: readonly GrantRow[],
  repository: Repository,
  without: AccessMode,
): RepositoryModes {
  // Members of any team can read the organization's repositories that are not private.
  const ofMember = repository.isPrivate || grants.length === 0 ? 'none' : 'read'
  const base = higher(without, ofMember)
  const teams = grants
    .filter((grant) => grant.includes_repository === 1 || grant.permission === 'owner')
    .map(teamRightsOf)
  if (teams.length === 0) return everyUnit(base)
  const modeOf = (unit: RepositoryUnit) =>
    teams.map((team) => teamMode(team, unit)).reduce(higher, base)
  if (teams.every(isAlikeInEachUnit)) return everyUnit(modeOf('code'))
  const isCodeSeen = modeOf('code') !== 'none'
  return modesOf((unit) => (unit === 'pulls' && !isCodeSeen ? 'none' : modeOf(unit)))
}

/** Access that a team gives. */
export interface TeamRights {
  /** Access to each unit if `units` is empty, or if it is at least `admin`. */
  readonly permission: AccessMode
  /** Access to each unit, by its name in the API, such as `repo.code`; empty if all are alike. */
  readonly units: Readonly<Record<string, string>>
}

/** Returns the access of a team from its row, in which `units` is JSON or empty. */
export function teamRightsOf({ permission, units }: TeamRow): TeamRights {
  return { permission, units: units === '' ? {} : JSON.parse(units) }
}

/** True if a team has the same access to every unit. */
export function isAlikeInEachUnit({ permission, units }: TeamRights): boolean {
  return atLeast(permission, 'admin') || Object.keys(units).length === 0
}

/**
 * Returns a team's access to a unit. Only a team that administers everything has more than `write`:
 * settings, keys and members are of the whole repository, not of a unit.
 */
export function teamMode(team: TeamRights, unit: RepositoryUnit | 'packages'): AccessMode {
  if (isAlikeInEachUnit(team)) return team.permission
  return atMost(readMode(team.units[`repo.${unit}`]), 'write')
}

/** Returns the permission of a team in the API, as Gitea has it: the least that is not `none`. */
export function teamPermission(team: TeamRights): AccessMode {
  if (isAlikeInEachUnit(team)) return team.permission
  const modes = Object.entries(team.units)
    .filter(([name]) => !name.startsWith('repo.ext_'))
    .map(([, mode]) => readMode(mode))
  return ACCESS_MODES.find((mode) => mode !== 'none' && modes.includes(mode)) ?? 'none'
}

function readMode(text: string | undefined): AccessMode {
  return ACCESS_MODES.find((mode) => mode === text) ?? 'none'
}

function higher(one: AccessMode, other: AccessMode): AccessMode {
  return atLeast(one, other) ? one : other
}
