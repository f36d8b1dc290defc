/** Teams over the API: create, list, search, read, edit, delete. */

import { Type } from 'typebox'
import type { Reply } from '../../../conf/http.js'
import { listTeams, type TeamSearch } from '../../../sql/organizations/teams.js'
import { changeTeam, makeTeam, removeTeam } from '../../actions/organizations/change-team.js'
import {
  CREATE_TEAM_OPTION,
  EDIT_TEAM_OPTION,
  TEAM_OBJECT,
  teamObject,
  teamObjects,
  teamPatchOf,
} from '../../objects/organizations/team-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import {
  NO_QUERY,
  PAGE_QUERY,
  type PageReply,
  pageOf,
  pageReply,
  wrapSearchResults,
} from '../paging.js'
import { jsonReply } from '../surface.js'

const ORG_PARAM = { org: 'name of the organization' }
const TEAM_PARAM = { id: 'id of the team' }

const list = defineOperation({
  id: 'orgListTeams',
  method: 'GET',
  path: '/orgs/{org}/teams',
  summary: "List an organization's teams",
  tags: ['organization'],
  access: { kind: 'organization', role: 'member' },
  scopes: ['read:organization'],
  params: ORG_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(TEAM_OBJECT) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    teamPage(context, query, {
      path: `/orgs/${grant.organization.name}/teams`,
      search: { organizationId: grant.organization.id },
    }),
})

const search = defineOperation({
  id: 'teamSearch',
  method: 'GET',
  path: '/orgs/{org}/teams/search',
  summary: 'Search for teams within an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'member' },
  scopes: ['read:organization'],
  params: ORG_PARAM,
  query: Type.Object({
    q: Type.Optional(Type.String({ description: 'keywords to search' })),
    include_desc: Type.Optional(
      Type.Boolean({ description: 'include search within team description' }),
    ),
    ...PAGE_QUERY,
  }),
  success: {
    status: 200,
    schema: Type.Object({ ok: Type.Boolean(), data: Type.Array(TEAM_OBJECT) }),
  },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    teamPage(context, query, {
      path: `/orgs/${grant.organization.name}/teams/search`,
      query: { q: query.q, include_desc: query.include_desc ? 'true' : undefined },
      search: {
        organizationId: grant.organization.id,
        text: query.q ?? '',
        hasTextInDescription: query.include_desc ?? false,
      },
      wrap: wrapSearchResults,
    }),
})

const listOwn = defineOperation({
  id: 'userListTeams',
  method: 'GET',
  path: '/user/teams',
  summary: 'List all the teams a user belongs to',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:organization'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(TEAM_OBJECT) },
  failures: [403],
  handle: (context, { grant, query }) =>
    teamPage(context, query, { path: '/user/teams', search: { memberId: grant.user.id } }),
})

interface TeamPage extends Pick<PageReply, 'path' | 'query' | 'wrap'> {
  readonly search: TeamSearch
}

async function teamPage(
  context: Context,
  given: { readonly page?: number; readonly limit?: number },
  { search, ...rest }: TeamPage,
): Promise<Reply> {
  const page = pageOf(given)
  const { entries, total } = await listTeams(context.db, search, page)
  return pageReply(context, await teamObjects(context, entries), { ...rest, page, total })
}

const create = defineOperation({
  id: 'orgCreateTeam',
  method: 'POST',
  path: '/orgs/{org}/teams',
  summary: 'Create a team',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: ORG_PARAM,
  query: NO_QUERY,
  body: CREATE_TEAM_OPTION,
  success: { status: 201, schema: TEAM_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const { organization } = grant
    const team = await makeTeam(context.db, {
      organizationId: organization.id,
      name: body.name,
      description: '',
      permission: 'read',
      includesAll: false,
      mayCreateRepositories: false,
      units: {},
      ...teamPatchOf(body),
    })
    return jsonReply(201, teamObject(context, team, organization))
  },
})

const get = defineOperation({
  id: 'orgGetTeam',
  method: 'GET',
  path: '/teams/{id}',
  summary: 'Get a team',
  tags: ['organization'],
  access: { kind: 'team', role: 'member' },
  scopes: ['read:organization'],
  params: TEAM_PARAM,
  query: NO_QUERY,
  success: { status: 200, schema: TEAM_OBJECT },
  failures: [403, 404],
  handle: (context, { grant }) =>
    jsonReply(200, teamObject(context, grant.team, grant.organization)),
})

const edit = defineOperation({
  id: 'orgEditTeam',
  method: 'PATCH',
  path: '/teams/{id}',
  summary: 'Edit a team',
  tags: ['organization'],
  access: { kind: 'team', role: 'owner' },
  scopes: ['write:organization'],
  params: TEAM_PARAM,
  query: NO_QUERY,
  body: EDIT_TEAM_OPTION,
  success: { status: 200, schema: TEAM_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const changed = await changeTeam(context.db, grant.team, teamPatchOf(body, grant.team))
    return jsonReply(200, teamObject(context, changed, grant.organization))
  },
})

const remove = defineOperation({
  id: 'orgDeleteTeam',
  method: 'DELETE',
  path: '/teams/{id}',
  summary: 'Delete a team',
  tags: ['organization'],
  access: { kind: 'team', role: 'owner' },
  scopes: ['write:organization'],
  params: TEAM_PARAM,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle({ db }, { grant }) {
    await removeTeam(db, grant.team)
    return { status: 204 }
  },
})

export const TEAM_OPERATIONS: readonly AnyOperation[] = [
  list,
  search,
  listOwn,
  create,
  get,
  edit,
  remove,
]
