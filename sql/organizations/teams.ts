/** Teams of organizations, with their permissions, members and repositories. */

import { Failure } from '../../conf/failures.js'
import { presentColumns } from '../accounts/owners.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { AccessMode } from '../repositories/access.js'

export interface Team {
  readonly id: number
  readonly organizationId: number
  readonly name: string
  readonly description: string
  /**
   * Access to every unit, if `units` is empty or this is at least `admin`. Otherwise the least of
   * the units, or `none` if code is not among them; releases that know no units give it to all.
   */
  readonly permission: AccessMode
  readonly includesAll: boolean
  readonly mayCreateRepositories: boolean
  /** Access to each unit, such as `repo.code`; units that are left out have none. */
  readonly units: Readonly<Record<string, string>>
}

export type NewTeam = Omit<Team, 'id'>

/** Changes to a team; absent fields keep their value. */
export type TeamPatch = Partial<Omit<NewTeam, 'organizationId'>>

const NAME_TAKEN = 'team already exists'

/**
 * Creates a team without members. Throws `conflict` if the organization has a team with that name.
 */
export async function createTeam(db: Database, team: NewTeam): Promise<Team> {
  const [id] = await orConflict(NAME_TAKEN, () =>
    db('teams').insert({ organization_id: team.organizationId, ...columnsOf(team) }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  return { ...team, id }
}

/** Changes a team. Throws `conflict` if its organization has another team with the new name. */
export async function updateTeam(db: Database, teamId: number, patch: TeamPatch): Promise<void> {
  const columns = columnsOf(patch)
  if (Object.keys(columns).length === 0) return
  await orConflict(NAME_TAKEN, () => db('teams').where({ id: teamId }).update(columns))
}

function columnsOf(team: TeamPatch): Record<string, string | number | boolean> {
  return presentColumns({
    name: team.name,
    name_lower: team.name === undefined ? undefined : foldCase(team.name),
    description: team.description,
    permission: team.permission,
    includes_all_repositories: team.includesAll,
    can_create_repositories: team.mayCreateRepositories,
    units: team.units === undefined ? undefined : JSON.stringify(team.units),
  })
}

/** Deletes a team. Its members keep their other teams. */
export async function deleteTeam(db: Database, teamId: number): Promise<void> {
  await db('teams').where({ id: teamId }).delete()
}

/** Returns the team with that id. */
export async function findTeam(db: Database, teamId: number): Promise<Team | undefined> {
  const [row] = await selectRows<TeamRow>(db, `${SELECT} where t.id = ?`, [teamId])
  return row === undefined ? undefined : teamOf(row)
}

/** Returns the teams with those ids; ids without a team are left out. */
export async function findTeamsById(
  db: Database,
  teamIds: readonly number[],
): Promise<readonly Team[]> {
  if (teamIds.length === 0) return []
  const where = `where t.id in (${teamIds.map(() => '?').join()})`
  return (await selectRows<TeamRow>(db, `${SELECT} ${where}`, teamIds)).map(teamOf)
}

/** Returns the organization's team with that name. Case is ignored. */
export async function findTeamByName(
  db: Database,
  organizationId: number,
  name: string,
): Promise<Team | undefined> {
  const where = 'where t.organization_id = ? and t.name_lower = ?'
  const [row] = await selectRows<TeamRow>(db, `${SELECT} ${where}`, [
    organizationId,
    foldCase(name),
  ])
  return row === undefined ? undefined : teamOf(row)
}

/**
 * Returns true if a team has access to a repository of its organization: to this one, or to all.
 */
export async function hasTeamRepository(
  db: Database,
  { id, includesAll, permission }: Team,
  repositoryId: number,
): Promise<boolean> {
  if (includesAll || permission === 'owner') return true
  const rows = await selectRows(
    db,
    'select 1 from team_repositories where team_id = ? and repository_id = ?',
    [id, repositoryId],
  )
  return rows.length > 0
}

/** Returns the teams of an organization that have access to one of its repositories, by name. */
export async function listRepositoryTeams(
  db: Database,
  organizationId: number,
  repositoryId: number,
): Promise<readonly Team[]> {
  const where = `where t.organization_id = ? and (t.includes_all_repositories = 1
    or t.permission = 'owner' or t.id in
      (select g.team_id from team_repositories g where g.repository_id = ?))`
  const rows = await selectRows<TeamRow>(db, `${SELECT} ${where} order by t.name_lower`, [
    organizationId,
    repositoryId,
  ])
  return rows.map(teamOf)
}

/** Search for teams; absent fields match every team. */
export interface TeamSearch {
  readonly organizationId?: number
  readonly memberId?: number
  /** Part of the name. Case is ignored. */
  readonly text?: string
  readonly hasTextInDescription?: boolean
}

/** Returns the teams that match the search, oldest first. */
export async function listTeams(
  db: Database,
  search: TeamSearch,
  page: Page,
): Promise<Paged<Team>> {
  const { organizationId, memberId, text = '', hasTextInDescription = false } = search
  const folded = foldCase(text)
  const conditions = [
    ...(organizationId === undefined ? [] : [['t.organization_id = ?', organizationId] as const]),
    ...(memberId === undefined ? [] : [[IN_TEAMS, memberId] as const]),
  ]
  const inText = hasTextInDescription
    ? "instr(concat(t.name_lower, ' ', lower(t.description)), ?) > 0"
    : 'instr(t.name_lower, ?) > 0'
  const where = [...conditions.map(([clause]) => clause), ...(folded === '' ? [] : [inText])]
  const bindings = [...conditions.map(([, value]) => value), ...(folded === '' ? [] : [folded])]
  const clause = where.length === 0 ? '' : `where ${where.join(' and ')}`
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from teams t ${clause}`,
    bindings,
  )
  const rows = await selectRows<TeamRow>(db, `${SELECT} ${clause} order by t.id limit ? offset ?`, [
    ...bindings,
    page.limit,
    offsetOf(page),
  ])
  return { entries: rows.map(teamOf), total: count?.total ?? 0 }
}

const IN_TEAMS = 't.id in (select m.team_id from team_members m where m.user_id = ?)'

/** Adds a user to a team, if they are not a member already. */
export async function addTeamMember(db: Database, teamId: number, userId: number): Promise<void> {
  await db('team_members')
    .insert({ team_id: teamId, user_id: userId })
    .onConflict(['team_id', 'user_id'])
    .ignore()
}

/** Returns true if the user is a member of the team. */
export async function isTeamMember(db: Database, teamId: number, userId: number): Promise<boolean> {
  const rows = await selectRows(
    db,
    'select 1 from team_members where team_id = ? and user_id = ?',
    [teamId, userId],
  )
  return rows.length > 0
}

/** Returns the ids of an organization's teams that a user is a member of. */
export async function teamIdsOf(
  db: Database,
  organizationId: number,
  userId: number,
): Promise<ReadonlySet<number>> {
  const rows = await selectRows<{ team_id: number }>(
    db,
    `select m.team_id from team_members m join teams t on t.id = m.team_id
      where t.organization_id = ? and m.user_id = ?`,
    [organizationId, userId],
  )
  return new Set(rows.map(({ team_id }) => team_id))
}

/** Error text if a removal would leave an organization without an owner. */
const LAST_OWNER = 'The last owner of an organization cannot leave it.'

/**
 * Removes a user from a team, or from all teams of the organization. Returns false if they were a
 * member of none. Throws `invalid` if the organization would be left without an owner.
 */
export async function removeMember(
  db: Database,
  userId: number,
  { organizationId, teamId }: { readonly organizationId: number; readonly teamId?: number },
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    // The row lock makes concurrent removals of owners wait for each other.
    await trx('organizations').where({ owner_id: organizationId }).forUpdate().first('owner_id')
    const ownersBefore = await countOwners(trx, organizationId)
    const teams = trx('teams').where({ organization_id: organizationId }).select('id')
    const left = await trx('team_members')
      .where({ user_id: userId })
      .whereIn('team_id', teamId === undefined ? teams : [teamId])
      .delete()
    if (left === 0) return false
    if (ownersBefore > 0 && (await countOwners(trx, organizationId)) === 0) {
      throw new Failure('invalid', LAST_OWNER)
    }
    const rest = await trx('team_members').where({ user_id: userId }).whereIn('team_id', teams)
    if (rest.length === 0) {
      await trx('public_members')
        .where({ organization_id: organizationId, user_id: userId })
        .delete()
    }
    return true
  })
}

/** Returns the number of owners who can sign in. */
async function countOwners(db: Database, organizationId: number): Promise<number> {
  const [row] = await selectRows<{ owners: number }>(
    db,
    `select count(*) as owners from team_members m join teams t on t.id = m.team_id
      join users u on u.owner_id = m.user_id and u.is_active = 1 and u.is_login_prohibited = 0
      where t.organization_id = ? and t.permission = 'owner'`,
    [organizationId],
  )
  return row?.owners ?? 0
}

/** Adds a repository to a team, if it does not have it already. */
export async function addTeamRepository(
  db: Database,
  teamId: number,
  repositoryId: number,
): Promise<void> {
  await db('team_repositories')
    .insert({ team_id: teamId, repository_id: repositoryId })
    .onConflict(['team_id', 'repository_id'])
    .ignore()
}

/** Removes a repository from a team. Returns false if the team does not have it. */
export async function removeTeamRepository(
  db: Database,
  teamId: number,
  repositoryId: number,
): Promise<boolean> {
  const place = { team_id: teamId, repository_id: repositoryId }
  return (await db('team_repositories').where(place).delete()) > 0
}

const SELECT = `select t.id, t.organization_id, t.name, t.description, t.permission,
  t.includes_all_repositories, t.can_create_repositories, t.units from teams t`

interface TeamRow {
  readonly id: number
  readonly organization_id: number
  readonly name: string
  readonly description: string
  readonly permission: AccessMode
  readonly includes_all_repositories: number
  readonly can_create_repositories: number
  readonly units: string
}

function teamOf(row: TeamRow): Team {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    permission: row.permission,
    includesAll: row.includes_all_repositories === 1,
    mayCreateRepositories: row.can_create_repositories === 1,
    units: row.units === '' ? {} : JSON.parse(row.units),
  }
}
