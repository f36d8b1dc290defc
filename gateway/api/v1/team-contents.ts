/** What belongs to a team over the API: its members and its repositories. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { listMembers } from '../../../sql/organization-members.js'
import { findRepository, type Repository } from '../../../sql/repositories.js'
import { searchRepositories } from '../../../sql/repository-lists.js'
import {
  addTeamMember,
  addTeamRepository,
  isTeamMember,
  removeMember,
  removeTeamRepository,
} from '../../../sql/teams.js'
import type { Grants } from '../../auth/gate.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../context.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { repositoryPage } from './repository-lists.js'
import { REPOSITORY_OBJECT, repositoryObjects } from './repository-object.js'
import { findVisibleUser, USER_OBJECT, userObject } from './user-object.js'

const TEAM_PARAM = { id: 'id of the team' }
const MEMBER_PARAMS = { ...TEAM_PARAM, username: 'username of the user' }
const REPOSITORY_PARAMS = {
  ...TEAM_PARAM,
  org: 'organization that owns the repo',
  repo: 'name of the repo',
}

const READ = { kind: 'team', role: 'member' } as const
const WRITE = { kind: 'team', role: 'owner' } as const

const listTeamMembers = defineOperation({
  id: 'orgListTeamMembers',
  method: 'GET',
  path: '/teams/{id}/members',
  summary: "List a team's members",
  tags: ['organization'],
  access: READ,
  scopes: ['read:organization'],
  params: TEAM_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [403, 404],
  async handle(context, { grant, query }) {
    const { team, organization, user } = grant
    const page = pageOf(query)
    const search = { organizationId: organization.id, teamId: team.id }
    const { entries, total } = await listMembers(context.db, search, page)
    const objects = entries.map((entry) => userObject(context, entry, user))
    return pageReply(context, objects, { path: `/teams/${team.id}/members`, page, total })
  },
})

const getMember = defineOperation({
  id: 'orgListTeamMember',
  method: 'GET',
  path: '/teams/{id}/members/{username}',
  summary: 'List a particular member of team',
  tags: ['organization'],
  access: READ,
  scopes: ['read:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: USER_OBJECT },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const member = await findVisibleUser(context.db, params['username'] ?? '', grant.user)
    if (!(await isTeamMember(context.db, grant.team.id, member.id))) throw missing()
    return jsonReply(200, userObject(context, member, grant.user))
  },
})

const addMember = defineOperation({
  id: 'orgAddTeamMember',
  method: 'PUT',
  path: '/teams/{id}/members/{username}',
  summary: 'Add a team member',
  tags: ['organization'],
  access: WRITE,
  scopes: ['write:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    const member = await findVisibleUser(db, params['username'] ?? '', grant.user)
    await addTeamMember(db, grant.team.id, member.id)
    return { status: 204 }
  },
})

const dropMember = defineOperation({
  id: 'orgRemoveTeamMember',
  method: 'DELETE',
  path: '/teams/{id}/members/{username}',
  summary: 'Remove a team member',
  tags: ['organization'],
  access: WRITE,
  scopes: ['write:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle({ db }, { grant, params }) {
    const member = await findVisibleUser(db, params['username'] ?? '', grant.user)
    const place = { organizationId: grant.organization.id, teamId: grant.team.id }
    if (!(await removeMember(db, member.id, place))) throw missing()
    return { status: 204 }
  },
})

const listRepositories = defineOperation({
  id: 'orgListTeamRepos',
  method: 'GET',
  path: '/teams/{id}/repos',
  summary: "List a team's repos",
  tags: ['organization'],
  access: READ,
  scopes: ['read:organization'],
  params: TEAM_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    repositoryPage(context, query, {
      path: `/teams/${grant.team.id}/repos`,
      who: grant.who,
      search: { teamId: grant.team.id },
    }),
})

const getRepository = defineOperation({
  id: 'orgListTeamRepo',
  method: 'GET',
  path: '/teams/{id}/repos/{org}/{repo}',
  summary: 'List a particular repo of team',
  tags: ['organization'],
  access: READ,
  scopes: ['read:organization'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: REPOSITORY_OBJECT },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const repository = await repositoryOf(context, grant, params)
    const search = { viewer: viewerOf(grant.who), teamId: grant.team.id, id: repository.id }
    const { entries } = await searchRepositories(context.db, search, { page: 1, limit: 1 })
    const [object] = await repositoryObjects(context, entries, grant.who)
    if (object === undefined) throw missing()
    return jsonReply(200, object)
  },
})

const addRepository = defineOperation({
  id: 'orgAddTeamRepository',
  method: 'PUT',
  path: '/teams/{id}/repos/{org}/{repo}',
  summary: 'Add a repository to a team',
  tags: ['organization'],
  access: WRITE,
  scopes: ['write:organization'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const repository = await repositoryOf(context, grant, params)
    await addTeamRepository(context.db, grant.team.id, repository.id)
    return { status: 204 }
  },
})

const dropRepository = defineOperation({
  id: 'orgRemoveTeamRepository',
  method: 'DELETE',
  path: '/teams/{id}/repos/{org}/{repo}',
  summary: 'Remove a repository from a team',
  tags: ['organization'],
  access: WRITE,
  scopes: ['write:organization'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const repository = await repositoryOf(context, grant, params)
    if (!(await removeTeamRepository(context.db, grant.team.id, repository.id))) throw missing()
    return { status: 204 }
  },
})

/** The repository that the path names: a team has repositories of its own organization alone. */
async function repositoryOf(
  { db }: Context,
  { organization }: Grants['team'],
  { org = '', repo = '' }: Readonly<Record<string, string>>,
): Promise<Repository> {
  const repository = await findRepository(db, org, repo)
  if (repository?.owner.id !== organization.id) throw missing()
  return repository
}

function missing(): Failure {
  return new Failure('not_found', "The target couldn't be found.")
}

export const TEAM_CONTENT_OPERATIONS: readonly AnyOperation[] = [
  ...[listTeamMembers, getMember, addMember, dropMember],
  ...[listRepositories, getRepository, addRepository, dropRepository],
]
