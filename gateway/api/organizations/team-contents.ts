/** Members and repositories of a team over the API. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { listMembers } from '../../../sql/organizations/organization-members.js'
import { isTeamMember } from '../../../sql/organizations/teams.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import {
  giveToTeam,
  type RepositoryName,
  repositoryForTeam,
  takeFromTeam,
  takeIntoTeam,
  takeOutOfTeam,
} from '../../actions/organizations/team-contents.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { USER_OBJECT, userObject } from '../../objects/accounts/user-object.js'
import {
  REPOSITORY_OBJECT,
  repositoryObjects,
} from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { repositoryPage } from '../repositories/repository-lists.js'
import { jsonReply } from '../surface.js'

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
    if (!(await isTeamMember(context.db, grant.team.id, member.id))) throw notFound()
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
    await takeIntoTeam(db, grant, params['username'] ?? '')
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
    await takeOutOfTeam(db, grant, params['username'] ?? '')
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
    const repository = await repositoryForTeam(context.db, grant, nameOf(params))
    const search = { viewer: viewerOf(grant.who), teamId: grant.team.id, id: repository.id }
    const { entries } = await searchRepositories(context.db, search, { page: 1, limit: 1 })
    const [object] = await repositoryObjects(context, entries, grant.who)
    if (object === undefined) throw notFound()
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
    await giveToTeam(context.db, grant, nameOf(params))
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
    await takeFromTeam(context.db, grant, nameOf(params))
    return { status: 204 }
  },
})

function nameOf({ org = '', repo = '' }: Readonly<Record<string, string>>): RepositoryName {
  return { owner: org, name: repo }
}

export const TEAM_CONTENT_OPERATIONS: readonly AnyOperation[] = [
  listTeamMembers,
  getMember,
  addMember,
  dropMember,
  listRepositories,
  getRepository,
  addRepository,
  dropRepository,
]
