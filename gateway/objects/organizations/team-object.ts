/** The Team of this API, and the bodies that create and edit one. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import {
  findOrganizationsById,
  type Organization,
} from '../../../sql/organizations/organizations.js'
import { findTeamsById, type Team, type TeamPatch } from '../../../sql/organizations/teams.js'
import {
  type AccessMode,
  atLeast,
  isAlikeInEachUnit,
  teamPermission,
} from '../../../sql/repositories/access.js'
import { TEAM_TEXT_CHARACTERS_MAX } from '../../actions/organizations/change-team.js'
import type { Context } from '../../request/context.js'
import { ORGANIZATION_OBJECT, organizationObject } from './organization-object.js'

const UNITS: readonly string[] = [
  'repo.code',
  'repo.issues',
  'repo.pulls',
  'repo.releases',
  'repo.wiki',
  'repo.ext_wiki',
  'repo.ext_issues',
  'repo.projects',
  'repo.packages',
  'repo.actions',
]

const UNIT_MAP = Type.Record(Type.String(), Type.String())

export const TEAM_OBJECT = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    organization: ORGANIZATION_OBJECT,
    includes_all_repositories: Type.Boolean(),
    permission: Type.Enum(['none', 'read', 'write', 'admin', 'owner']),
    units: Type.Array(Type.String()),
    units_map: Type.Unsafe<Static<typeof UNIT_MAP>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    can_create_org_repo: Type.Boolean(),
  },
  { $id: 'Team' },
)

const DETAILS = {
  description: Type.Optional(Type.String({ maxLength: TEAM_TEXT_CHARACTERS_MAX })),
  includes_all_repositories: Type.Optional(Type.Boolean()),
  permission: Type.Optional(Type.Enum(['read', 'write', 'admin'])),
  units: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
  units_map: Type.Optional(
    Type.Unsafe<Static<typeof UNIT_MAP>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
  ),
  can_create_org_repo: Type.Optional(Type.Boolean()),
}

export const CREATE_TEAM_OPTION = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: TEAM_TEXT_CHARACTERS_MAX }), ...DETAILS },
  { $id: 'CreateTeamOption' },
)

export const EDIT_TEAM_OPTION = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: TEAM_TEXT_CHARACTERS_MAX })),
    ...DETAILS,
  },
  { $id: 'EditTeamOption' },
)

export type TeamObject = Static<typeof TEAM_OBJECT>

/** Returns a team with its organization. */
export function teamObject(
  context: Pick<Context, 'settings'>,
  team: Team,
  organization: Organization,
): TeamObject {
  const units = isAlikeInEachUnit(team) ? allUnits(team.permission) : team.units
  return {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: organizationObject(context, organization),
    includes_all_repositories: team.includesAll,
    permission: teamPermission(team),
    units: Object.keys(units),
    units_map: { ...units },
    can_create_org_repo: team.mayCreateRepositories,
  }
}

/** Returns teams of any organizations. */
export async function teamObjects(
  context: Pick<Context, 'db' | 'settings'>,
  teams: readonly Team[],
): Promise<readonly TeamObject[]> {
  const ids = new Set(teams.map(({ organizationId }) => organizationId))
  const organizations = await findOrganizationsById(context.db, [...ids])
  const byId = new Map(organizations.map((organization) => [organization.id, organization]))
  return teams.flatMap((team) => {
    const organization = byId.get(team.organizationId)
    return organization === undefined ? [] : [teamObject(context, team, organization)]
  })
}

/** Returns the teams with those ids, by id. */
export async function teamObjectsById(
  context: Pick<Context, 'db' | 'settings'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, TeamObject>> {
  const objects = await teamObjects(context, await findTeamsById(context.db, ids))
  return new Map(objects.map((object) => [object.id, object]))
}

function allUnits(permission: AccessMode): Readonly<Record<string, string>> {
  return Object.fromEntries(UNITS.map((name) => [name, permission]))
}

/**
 * Reads the changes of a team from the body. The team is absent if the body creates one. Throws
 * `invalid` for an unknown unit or permission.
 */
export function teamPatchOf(body: Static<typeof EDIT_TEAM_OPTION>, team?: Team): TeamPatch {
  const units = unitsOf(body, team)
  const permission = permissionOf(body, units)
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.includes_all_repositories === undefined
      ? {}
      : { includesAll: body.includes_all_repositories }),
    ...(body.can_create_org_repo === undefined
      ? {}
      : { mayCreateRepositories: body.can_create_org_repo }),
    ...(units === undefined ? {} : { units }),
    ...(permission === undefined ? {} : { permission }),
  }
}

/**
 * Returns the access to each unit: as sent, or the sent permission for the listed units, or for
 * those that the team has. Undefined if it does not change; empty if all units are alike.
 */
function unitsOf(
  { permission, units, units_map: map = {} }: Static<typeof EDIT_TEAM_OPTION>,
  team: Team | undefined,
): Readonly<Record<string, string>> | undefined {
  const listedMode = permission ?? (team === undefined ? 'read' : teamPermission(team))
  const given = Object.keys(map).length > 0 ? map : sameFor(units ?? [], listedMode)
  for (const [name, mode] of Object.entries(given)) {
    if (!UNITS.includes(name)) throw new Failure('invalid', `Unknown team unit: ${name}`)
    if (!MODES.includes(mode)) throw new Failure('invalid', `Unknown team permission: ${mode}`)
  }
  if (permission === 'admin') return {}
  if (Object.keys(given).length > 0) return given
  if (units !== undefined) return {}
  if (permission === undefined || team === undefined || isAlikeInEachUnit(team)) return undefined
  const held = Object.entries(team.units).filter(([, mode]) => mode !== 'none')
  return sameFor(
    held.map(([name]) => name),
    permission,
  )
}

function sameFor(units: readonly string[], mode: string): Readonly<Record<string, string>> {
  return Object.fromEntries(units.map((name) => [name, mode]))
}

const MODES: readonly string[] = ['none', 'read', 'write', 'admin']

/**
 * Returns the access of the team that applies to every unit if `units` is empty or undefined.
 * Otherwise the least of the units, so that a release that knows no units gives none of them more,
 * and `none` if code is not among them. If every unit has `admin`, so has the team, as in Gitea.
 */
function permissionOf(
  { permission }: Static<typeof EDIT_TEAM_OPTION>,
  units: Readonly<Record<string, string>> | undefined,
): AccessMode | undefined {
  if (permission === 'admin' || units === undefined) return permission
  const modes = Object.values(units) as AccessMode[]
  const [first, ...others] = modes
  if (first === undefined) return permission
  if (!Object.hasOwn(units, 'repo.code')) return 'none'
  return others.reduce((least, mode) => (atLeast(mode, least) ? least : mode), first)
}
