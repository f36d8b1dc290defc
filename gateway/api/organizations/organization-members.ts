/** Members of organizations over the API: list, check, remove, publicize, conceal. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { isPublicMember, listMembers } from '../../../sql/organizations/organization-members.js'
import { organizationRole } from '../../../sql/organizations/organizations.js'
import {
  isOutside,
  showMembership,
  takeOutOfOrganization,
  visibleMembers,
} from '../../actions/organizations/team-contents.js'
import type { Grants } from '../../auth/authorize.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { USER_OBJECT, userObject } from '../../objects/accounts/user-object.js'
import { API_PREFIX } from '../../objects/api-prefix.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'

const ORG_PARAM = { org: 'name of the organization' }
const MEMBER_PARAMS = { ...ORG_PARAM, username: 'username of the user' }

const VISIBLE = { kind: 'organization', role: 'visible' } as const
const MEMBER = { kind: 'organization', role: 'member' } as const

const list = defineOperation({
  id: 'orgListMembers',
  method: 'GET',
  path: '/orgs/{org}/members',
  summary: "List an organization's members",
  tags: ['organization'],
  access: VISIBLE,
  scopes: ['read:organization'],
  params: ORG_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  handle: (context, { grant, query }) =>
    memberPage(context, query, { grant, segment: 'members', isPublic: isOutside(grant) }),
})

const listPublic = defineOperation({
  id: 'orgListPublicMembers',
  method: 'GET',
  path: '/orgs/{org}/public_members',
  summary: "List an organization's public members",
  tags: ['organization'],
  access: VISIBLE,
  scopes: ['read:organization'],
  params: ORG_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  handle: (context, { grant, query }) =>
    memberPage(context, query, { grant, segment: 'public_members', isPublic: true }),
})

interface MemberPage {
  readonly grant: Grants['organization']
  readonly segment: string
  readonly isPublic: boolean
}

async function memberPage(
  context: Context,
  query: { readonly page?: number; readonly limit?: number },
  { grant, segment, isPublic }: MemberPage,
): Promise<Reply> {
  const { organization, user } = grant
  const page = pageOf(query)
  const { entries, total } = await listMembers(context.db, visibleMembers(grant, isPublic), page)
  const objects = entries.map((entry) => userObject(context, entry, user))
  return pageReply(context, objects, { path: `/orgs/${organization.name}/${segment}`, page, total })
}

const check = defineOperation({
  id: 'orgIsMember',
  method: 'GET',
  path: '/orgs/{org}/members/{username}',
  summary: 'Check if a user is a member of an organization',
  tags: ['organization'],
  access: { ...VISIBLE, isSignedIn: true },
  scopes: ['read:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [303, 404],
  async handle({ db, settings }, { grant, params }) {
    const { organization, user } = grant
    const name = params['username'] ?? ''
    if (isOutside(grant) && name.toLowerCase() !== user?.name.toLowerCase()) {
      const place = `/orgs/${organization.name}/public_members/${encodeURIComponent(name)}`
      const location = `${settings.http.baseUrl}${API_PREFIX}${place}`
      return { status: 303, headers: [['Location', location]] }
    }
    const member = await findVisibleUser(db, name, user)
    if ((await organizationRole(db, organization.id, member.id)) === 'none') throw notFound()
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'orgDeleteMember',
  method: 'DELETE',
  path: '/orgs/{org}/members/{username}',
  summary: 'Remove a member from an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle({ db }, { grant, params }) {
    await takeOutOfOrganization(db, grant, params['username'] ?? '')
    return { status: 204 }
  },
})

const checkPublic = defineOperation({
  id: 'orgIsPublicMember',
  method: 'GET',
  path: '/orgs/{org}/public_members/{username}',
  summary: 'Check if a user is a public member of an organization',
  tags: ['organization'],
  access: VISIBLE,
  scopes: ['read:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle({ db }, { grant, params }) {
    const member = await findVisibleUser(db, params['username'] ?? '', grant.user)
    if (await isPublicMember(db, grant.organization.id, member.id)) return { status: 204 }
    throw notFound()
  },
})

const publicize = defineOperation({
  id: 'orgPublicizeMember',
  method: 'PUT',
  path: '/orgs/{org}/public_members/{username}',
  summary: "Publicize a user's membership",
  tags: ['organization'],
  access: MEMBER,
  scopes: ['write:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    await refuseAnother(db, grant, params)
    await showMembership(db, grant, true)
    return { status: 204 }
  },
})

const conceal = defineOperation({
  id: 'orgConcealMember',
  method: 'DELETE',
  path: '/orgs/{org}/public_members/{username}',
  summary: "Conceal a user's membership",
  tags: ['organization'],
  access: MEMBER,
  scopes: ['write:organization'],
  params: MEMBER_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    await refuseAnother(db, grant, params)
    await showMembership(db, grant, false)
    return { status: 204 }
  },
})

/**
 * Throws `forbidden` if the path names another user: members publicize or conceal only themselves.
 */
async function refuseAnother(
  db: Context['db'],
  { user }: Grants['organization'],
  params: Readonly<Record<string, string>>,
): Promise<void> {
  const member = await findVisibleUser(db, params['username'] ?? '', user)
  if (member.id === user?.id) return
  throw new Failure('forbidden', 'Cannot publicize or conceal another member')
}

export const ORGANIZATION_MEMBER_OPERATIONS: readonly AnyOperation[] = [
  list,
  listPublic,
  check,
  remove,
  checkPublic,
  publicize,
  conceal,
]
