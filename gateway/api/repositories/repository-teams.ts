/** Teams of a repository over the API. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import {
  addTeamRepository,
  findTeamByName,
  hasTeamRepository,
  listRepositoryTeams,
  removeTeamRepository,
  type Team,
} from '../../../sql/organizations/teams.js'
import type { Grants } from '../../auth/authorize.js'
import { TEAM_OBJECT, teamObjects } from '../../objects/organizations/team-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const PATH = '/repos/{owner}/{repo}/teams'
const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const TEAM_PARAMS = { ...PARAMS, team: 'name of the team' }
const READ = { kind: 'repository', mode: 'read', isSignedIn: true } as const
const ADMIN = { kind: 'repository', mode: 'admin' } as const

const list = defineOperation({
  id: 'repoListTeams',
  method: 'GET',
  path: PATH,
  summary: "List a repository's teams",
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(TEAM_OBJECT) },
  failures: [404, 405],
  async handle(context, { grant }) {
    const { id, owner } = grant.repository
    refuseUser(grant)
    const teams = await listRepositoryTeams(context.db, owner.id, id)
    return jsonReply(200, await teamObjects(context, teams))
  },
})

const get = defineOperation({
  id: 'repoCheckTeam',
  method: 'GET',
  path: `${PATH}/{team}`,
  summary: 'Check if a team is assigned to a repository',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: TEAM_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: TEAM_OBJECT },
  failures: [404, 405],
  async handle(context, { grant, params }) {
    const team = await teamOf(context, grant, params)
    if (!(await hasTeamRepository(context.db, team, grant.repository.id))) throw notFound()
    const [object] = await teamObjects(context, [team])
    return jsonReply(200, object)
  },
})

const add = defineOperation({
  id: 'repoAddTeam',
  method: 'PUT',
  path: `${PATH}/{team}`,
  summary: 'Add a team to a repository',
  tags: ['repository'],
  access: ADMIN,
  scopes: ['write:repository'],
  params: TEAM_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 405, 422],
  async handle(context, { grant, params }) {
    const team = await teamOf(context, grant, params)
    const { id } = grant.repository
    if (await hasTeamRepository(context.db, team, id)) {
      throw new Failure('invalid', `The team ${team.name} has the repository already.`)
    }
    await addTeamRepository(context.db, team.id, id)
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'repoDeleteTeam',
  method: 'DELETE',
  path: `${PATH}/{team}`,
  summary: 'Delete a team from a repository',
  tags: ['repository'],
  access: ADMIN,
  scopes: ['write:repository'],
  params: TEAM_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 405, 422],
  async handle(context, { grant, params }) {
    const team = await teamOf(context, grant, params)
    if (await removeTeamRepository(context.db, team.id, grant.repository.id)) return { status: 204 }
    const why = team.includesAll ? 'has all repositories' : 'does not have the repository'
    throw new Failure('invalid', `The team ${team.name} ${why}.`)
  },
})

type Grant = Grants['repository']

/** Returns the team `{team}` of the organization. Throws `not_found`. */
async function teamOf(
  { db }: Context,
  grant: Grant,
  params: Readonly<Record<string, string>>,
): Promise<Team> {
  refuseUser(grant)
  const team = await findTeamByName(db, grant.repository.owner.id, params['team'] ?? '')
  if (team === undefined) throw notFound()
  return team
}

/** Throws `method_not_allowed` if the owner is no organization, as Gitea does. */
function refuseUser({ repository: { owner } }: Grant): void {
  if (owner.kind === 'organization') return
  throw new Failure('method_not_allowed', `The owner ${owner.name} is not an organization.`)
}

export const REPOSITORY_TEAM_OPERATIONS: readonly AnyOperation[] = [list, get, add, remove]
