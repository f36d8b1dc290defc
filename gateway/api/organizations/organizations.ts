/** Organizations over the API: create, list, read, edit, delete, and a user's permissions. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { parseEmail } from '../../../conf/names.js'
import {
  deleteOrganization,
  findOrganizationById,
  listOrganizations,
  mayCreateRepositories,
  type OrganizationSearch,
  organizationMode,
  updateOrganization,
} from '../../../sql/organizations/organizations.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { renameTo } from '../../actions/accounts/rename-owner.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import {
  CREATE_ORG_OPTION,
  EDIT_ORG_OPTION,
  makeOrganization,
  ORGANIZATION_OBJECT,
  organizationObject,
} from '../../objects/organizations/organization-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const ORG_PARAM = { org: 'name of the organization' }

const create = defineOperation({
  id: 'orgCreate',
  method: 'POST',
  path: '/orgs',
  summary: 'Create an organization',
  tags: ['organization'],
  access: { kind: 'signed-in' },
  scopes: ['write:organization'],
  params: {},
  query: NO_QUERY,
  body: CREATE_ORG_OPTION,
  success: { status: 201, schema: ORGANIZATION_OBJECT },
  failures: [403, 422],
  handle: async (context, { grant, body }) =>
    jsonReply(201, organizationObject(context, await makeOrganization(context, body, grant.user))),
})

const listAll = defineOperation({
  id: 'orgGetAll',
  method: 'GET',
  path: '/orgs',
  summary: 'Get list of organizations',
  tags: ['organization'],
  access: { kind: 'anyone' },
  scopes: ['read:organization'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(ORGANIZATION_OBJECT) },
  failures: [],
  handle: (context, { grant, query }) =>
    list(context, query, { path: '/orgs', search: { viewer: viewerOf(grant.who) } }),
})

const listOwn = defineOperation({
  id: 'orgListCurrentUserOrgs',
  method: 'GET',
  path: '/user/orgs',
  summary: "List the current user's organizations",
  tags: ['organization'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:organization'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(ORGANIZATION_OBJECT) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    list(context, query, {
      path: '/user/orgs',
      search: { viewer: viewerOf(grant.who), memberId: grant.user.id },
    }),
})

const listOf = defineOperation({
  id: 'orgListUserOrgs',
  method: 'GET',
  path: '/users/{username}/orgs',
  summary: "List a user's organizations",
  tags: ['organization'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:organization'],
  params: { username: 'username of the user whose organizations are to be listed' },
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(ORGANIZATION_OBJECT) },
  failures: [403, 404],
  async handle(context, { grant, params, query }) {
    const viewer = viewerOf(grant.who)
    const member = await findVisibleUser(context.db, params['username'] ?? '', grant.user)
    // Only the member and site administrators see memberships that are not public.
    const isShown = viewer.kind !== 'admin' && member.id !== grant.user.id
    return list(context, query, {
      path: `/users/${member.name}/orgs`,
      search: { viewer, memberId: member.id, isShown },
    })
  },
})

/** Returns a page of the matching organizations. */
async function list(
  context: Context,
  query: { readonly page?: number; readonly limit?: number },
  { path, search }: { readonly path: string; readonly search: OrganizationSearch },
): Promise<Reply> {
  const page = pageOf(query)
  const { entries, total } = await listOrganizations(context.db, search, page)
  return pageReply(
    context,
    entries.map((entry) => organizationObject(context, entry)),
    { path, page, total },
  )
}

const get = defineOperation({
  id: 'orgGet',
  method: 'GET',
  path: '/orgs/{org}',
  summary: 'Get an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible' },
  scopes: ['read:organization'],
  params: ORG_PARAM,
  query: NO_QUERY,
  success: { status: 200, schema: ORGANIZATION_OBJECT },
  failures: [404],
  handle: (context, { grant }) => jsonReply(200, organizationObject(context, grant.organization)),
})

const edit = defineOperation({
  id: 'orgEdit',
  method: 'PATCH',
  path: '/orgs/{org}',
  summary: 'Edit an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: ORG_PARAM,
  query: NO_QUERY,
  body: EDIT_ORG_OPTION,
  success: { status: 200, schema: ORGANIZATION_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const { id } = grant.organization
    await updateOrganization(context.db, id, {
      fullName: body.full_name,
      email: body.email ? parseEmail(body.email) : body.email,
      description: body.description,
      website: body.website,
      location: body.location,
      visibility: body.visibility || undefined,
      repoAdminChangeTeamAccess: body.repo_admin_change_team_access,
    })
    const changed = (await findOrganizationById(context.db, id)) ?? grant.organization
    return jsonReply(200, organizationObject(context, changed))
  },
})

const remove = defineOperation({
  id: 'orgDelete',
  method: 'DELETE',
  path: '/orgs/{org}',
  summary: 'Delete an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: ORG_PARAM,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant }) {
    await deleteOrganization(context.db, grant.organization.id)
    return { status: 204 }
  },
})

const RENAME_ORG_OPTION = Type.Object(
  { new_name: Type.String({ minLength: 1 }) },
  { $id: 'RenameOrgOption' },
)

const rename = defineOperation({
  id: 'renameOrg',
  method: 'POST',
  path: '/orgs/{org}/rename',
  summary: 'Rename an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: ORG_PARAM,
  query: NO_QUERY,
  body: RENAME_ORG_OPTION,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    await renameTo(context, grant.organization, body.new_name)
    return { status: 204 }
  },
})

const ORGANIZATION_PERMISSIONS = Type.Object(
  {
    is_owner: Type.Boolean(),
    is_admin: Type.Boolean(),
    can_write: Type.Boolean(),
    can_read: Type.Boolean(),
    can_create_repository: Type.Boolean(),
  },
  { $id: 'OrganizationPermissions' },
)

const getPermissions = defineOperation({
  id: 'orgGetUserPermissions',
  method: 'GET',
  path: '/users/{username}/orgs/{org}/permissions',
  summary: 'Get user permissions in organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible', isSignedIn: true },
  scopes: ['read:user', 'read:organization'],
  params: { username: 'username of the user whose permissions are to be obtained', ...ORG_PARAM },
  query: NO_QUERY,
  success: { status: 200, schema: ORGANIZATION_PERMISSIONS },
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    const { user, organization, role } = grant
    const member = await findVisibleUser(db, params['username'] ?? '', user)
    if (role === 'none' && member.id !== user?.id) {
      throw new Failure('forbidden', 'Must be an organization member')
    }
    const mode = await organizationMode(db, organization.id, member.id)
    return jsonReply(200, {
      is_owner: mode === 'owner',
      is_admin: atLeast(mode, 'admin'),
      can_write: atLeast(mode, 'write'),
      can_read: atLeast(mode, 'read'),
      can_create_repository: await mayCreateRepositories(db, organization.id, member.id),
    })
  },
})

export const ORGANIZATION_OPERATIONS: readonly AnyOperation[] = [
  create,
  listAll,
  listOwn,
  listOf,
  get,
  edit,
  remove,
  rename,
  getPermissions,
]
