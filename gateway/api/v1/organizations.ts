/** Organizations over the API: for now, making one. */

import { type Static, Type } from 'typebox'
import { Failure, isFailure } from '../../../conf/failures.js'
import { parseEmail, parseOwnerName } from '../../../conf/names.js'
import { createOrganization, type Organization } from '../../../sql/organizations.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'

const ORGANIZATION_OBJECT = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    username: Type.String({ description: 'deprecated: the name' }),
    full_name: Type.String(),
    email: Type.String(),
    avatar_url: Type.String(),
    description: Type.String(),
    website: Type.String(),
    location: Type.String(),
    visibility: Type.String(),
    repo_admin_change_team_access: Type.Boolean(),
  },
  { $id: 'Organization' },
)

const CREATE_ORG_OPTION = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 40 }),
    full_name: Type.Optional(Type.String({ maxLength: 100 })),
    email: Type.Optional(Type.String({ maxLength: 255 })),
    description: Type.Optional(Type.String({ maxLength: 255 })),
    website: Type.Optional(Type.String({ maxLength: 255 })),
    location: Type.Optional(Type.String({ maxLength: 50 })),
    visibility: Type.Optional(Type.Enum(['', 'public', 'limited', 'private'])),
    repo_admin_change_team_access: Type.Optional(Type.Boolean()),
  },
  { $id: 'CreateOrgOption' },
)

function organizationObject(organization: Organization): Static<typeof ORGANIZATION_OBJECT> {
  return {
    id: organization.id,
    name: organization.name,
    username: organization.name,
    full_name: organization.fullName,
    email: organization.email,
    avatar_url: '',
    description: organization.description,
    website: organization.website,
    location: organization.location,
    visibility: organization.visibility,
    repo_admin_change_team_access: organization.repoAdminChangeTeamAccess,
  }
}

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
  async handle(context, { grant, body }) {
    try {
      const organization = await createOrganization(context.db, {
        name: parseOwnerName(body.username),
        fullName: body.full_name ?? '',
        email: body.email ? parseEmail(body.email) : '',
        description: body.description ?? '',
        website: body.website ?? '',
        location: body.location ?? '',
        visibility: body.visibility || 'public',
        repoAdminChangeTeamAccess: body.repo_admin_change_team_access ?? false,
        creatorId: grant.user.id,
      })
      return jsonReply(201, organizationObject(organization))
    } catch (error) {
      // A taken name is an invalid one here, where elsewhere it is a conflict.
      if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
      throw error
    }
  },
})

export const ORGANIZATION_OPERATIONS: readonly AnyOperation[] = [create]
