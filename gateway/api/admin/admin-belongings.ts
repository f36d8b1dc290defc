/** Organizations and repositories over the API, for site administrators. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { findOwner } from '../../../sql/accounts/owners.js'
import { listOrganizations } from '../../../sql/organizations/organizations.js'
import { viewerOf } from '../../auth/refusals.js'
import {
  CREATE_ORG_OPTION,
  makeOrganization,
  ORGANIZATION_OBJECT,
  organizationObject,
} from '../../objects/organizations/organization-object.js'
import { REPOSITORY_OBJECT } from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { CREATE_REPO_OPTION, createRepositoryOf } from '../repositories/repositories.js'
import { jsonReply } from '../surface.js'
import { requireUser } from './admin-users.js'

const ADMIN = { kind: 'admin' } as const
const USERNAME_PARAM = { username: 'username of the user who is to own it' }

const listAll = defineOperation({
  id: 'adminGetAllOrgs',
  method: 'GET',
  path: '/admin/orgs',
  summary: 'List all organizations',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['read:admin'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(ORGANIZATION_OBJECT) },
  failures: [403],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const search = { viewer: viewerOf(grant.who) }
    const { entries, total } = await listOrganizations(context.db, search, page)
    const path = '/admin/orgs'
    return pageReply(
      context,
      entries.map((entry) => organizationObject(context, entry)),
      { path, page, total },
    )
  },
})

const createOrganization = defineOperation({
  id: 'adminCreateOrg',
  method: 'POST',
  path: '/admin/users/{username}/orgs',
  summary: 'Create an organization',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: CREATE_ORG_OPTION,
  success: { status: 201, schema: ORGANIZATION_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { params, body }) {
    const owner = await requireUser(context, params)
    return jsonReply(201, organizationObject(context, await makeOrganization(context, body, owner)))
  },
})

const createRepository = defineOperation({
  id: 'adminCreateRepo',
  method: 'POST',
  path: '/admin/users/{username}/repos',
  summary: 'Create a repository on behalf of a user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: CREATE_REPO_OPTION,
  success: { status: 201, schema: REPOSITORY_OBJECT },
  failures: [400, 403, 404, 409, 422],
  async handle(context, { grant, params, body }) {
    const owner = await findOwner(context.db, params['username'] ?? '')
    if (owner === undefined) throw notFound()
    return await createRepositoryOf(context, body, { owner, creator: grant.user })
  },
})

export const ADMIN_OWNED_OPERATIONS: readonly AnyOperation[] = [
  listAll,
  createOrganization,
  createRepository,
]
