/** The Organization of this API, and the bodies that create and edit one. */

import { type Static, Type } from 'typebox'
import type { User } from '../../../sql/accounts/users.js'
import type { Organization } from '../../../sql/organizations/organizations.js'
import { DETAIL_CHARACTERS_MAX } from '../../actions/accounts/owner-details.js'
import { openOrganization } from '../../actions/organizations/open-organization.js'
import type { Context } from '../../request/context.js'
import { ownerAvatarUrl } from '../accounts/avatar-address.js'

export const ORGANIZATION_OBJECT = Type.Object(
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

const DETAILS = {
  full_name: Type.Optional(Type.String({ maxLength: DETAIL_CHARACTERS_MAX.fullName })),
  email: Type.Optional(Type.String({ maxLength: 255 })),
  description: Type.Optional(Type.String({ maxLength: DETAIL_CHARACTERS_MAX.description })),
  website: Type.Optional(Type.String({ maxLength: DETAIL_CHARACTERS_MAX.website })),
  location: Type.Optional(Type.String({ maxLength: DETAIL_CHARACTERS_MAX.location })),
  visibility: Type.Optional(Type.Enum(['', 'public', 'limited', 'private'])),
  repo_admin_change_team_access: Type.Optional(Type.Boolean()),
}

export const CREATE_ORG_OPTION = Type.Object(
  { username: Type.String({ minLength: 1, maxLength: 40 }), ...DETAILS },
  { $id: 'CreateOrgOption' },
)

export const EDIT_ORG_OPTION = Type.Object(DETAILS, { $id: 'EditOrgOption' })

export function organizationObject(
  context: Pick<Context, 'settings'>,
  organization: Organization,
): Static<typeof ORGANIZATION_OBJECT> {
  return {
    id: organization.id,
    name: organization.name,
    username: organization.name,
    full_name: organization.fullName,
    email: organization.email,
    avatar_url: ownerAvatarUrl(context, organization),
    description: organization.description,
    website: organization.website,
    location: organization.location,
    visibility: organization.visibility,
    repo_admin_change_team_access: organization.repoAdminChangeTeamAccess,
  }
}

/** Creates the organization that `body` describes, with `creator` as its first owner. */
export async function makeOrganization(
  { db }: Pick<Context, 'db'>,
  body: Static<typeof CREATE_ORG_OPTION>,
  creator: User,
): Promise<Organization> {
  return await openOrganization(db, {
    name: body.username,
    fullName: body.full_name ?? '',
    email: body.email ?? '',
    description: body.description ?? '',
    website: body.website ?? '',
    location: body.location ?? '',
    visibility: body.visibility || 'public',
    repoAdminChangeTeamAccess: body.repo_admin_change_team_access ?? false,
    creatorId: creator.id,
  })
}
