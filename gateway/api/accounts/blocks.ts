/** Blocked users of users and organizations over the API: list, check, block, unblock. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { isBlockedByAny, listBlocked } from '../../../sql/accounts/blocks.js'
import { findOwner, type Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { type Blocker, blockUser, unblockUser } from '../../actions/accounts/block-user.js'
import { signedIn } from '../../auth/refusals.js'
import { countedUserObjects, USER_OBJECT } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'

const NOTE_QUERY = Type.Object({
  note: Type.Optional(Type.String({ description: 'optional note for the block' })),
})

const LIST = { status: 200, schema: Type.Array(USER_OBJECT) } as const
const DONE = { status: 204, schema: null } as const

const OF_USER = { tags: ['user'], access: { kind: 'signed-in' } } as const

const listOwn = defineOperation({
  ...OF_USER,
  id: 'userListBlocks',
  method: 'GET',
  path: '/user/blocks',
  summary: 'List users blocked by the authenticated user',
  scopes: ['read:user'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [],
  handle: (context, { grant: { user }, query }) =>
    blocksPage(context, query, { owner: user, caller: user, path: '/user/blocks' }),
})

const checkOwn = defineOperation({
  ...OF_USER,
  id: 'userCheckUserBlock',
  method: 'GET',
  path: '/user/blocks/{username}',
  summary: 'Check if a user is blocked by the authenticated user',
  scopes: ['read:user'],
  params: { username: 'user to check' },
  query: NO_QUERY,
  success: DONE,
  failures: [404],
  handle: ({ db }, { grant: { user }, params }) => checkBlock(db, user, params['username'] ?? ''),
})

const blockOwn = defineOperation({
  ...OF_USER,
  id: 'userBlockUser',
  method: 'PUT',
  path: '/user/blocks/{username}',
  summary: 'Block a user',
  scopes: ['write:user'],
  params: { username: 'user to block' },
  query: NOTE_QUERY,
  success: DONE,
  failures: [400, 404, 422],
  handle: ({ db }, { grant: { who, user }, params, query }) =>
    block(db, { who, owner: user }, { name: params['username'] ?? '', note: query.note ?? '' }),
})

const unblockOwn = defineOperation({
  ...OF_USER,
  id: 'userUnblockUser',
  method: 'DELETE',
  path: '/user/blocks/{username}',
  summary: 'Unblock a user',
  scopes: ['write:user'],
  params: { username: 'user to unblock' },
  query: NO_QUERY,
  success: DONE,
  failures: [400, 404],
  handle: ({ db }, { grant: { who, user }, params }) =>
    unblock(db, { who, owner: user }, params['username'] ?? ''),
})

const OF_ORGANIZATION = {
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
} as const

const listOfOrganization = defineOperation({
  ...OF_ORGANIZATION,
  id: 'organizationListBlocks',
  method: 'GET',
  path: '/orgs/{org}/blocks',
  summary: 'List users blocked by the organization',
  scopes: ['read:organization'],
  params: { org: 'name of the organization' },
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [403, 404],
  handle: (context, { grant: { who, organization }, query }) =>
    blocksPage(context, query, {
      owner: organization,
      caller: signedIn(who).user,
      path: `/orgs/${organization.name}/blocks`,
    }),
})

const checkOfOrganization = defineOperation({
  ...OF_ORGANIZATION,
  id: 'organizationCheckUserBlock',
  method: 'GET',
  path: '/orgs/{org}/blocks/{username}',
  summary: 'Check if a user is blocked by the organization',
  scopes: ['read:organization'],
  params: { org: 'name of the organization', username: 'user to check' },
  query: NO_QUERY,
  success: DONE,
  failures: [403, 404],
  handle: ({ db }, { grant: { organization }, params }) =>
    checkBlock(db, organization, params['username'] ?? ''),
})

const blockByOrganization = defineOperation({
  ...OF_ORGANIZATION,
  id: 'organizationBlockUser',
  method: 'PUT',
  path: '/orgs/{org}/blocks/{username}',
  summary: 'Block a user',
  scopes: ['write:organization'],
  params: { org: 'name of the organization', username: 'user to block' },
  query: NOTE_QUERY,
  success: DONE,
  failures: [400, 403, 404, 422],
  handle({ db }, { grant: { who, organization }, params, query }) {
    const input = { name: params['username'] ?? '', note: query.note ?? '' }
    return block(db, { who, owner: organization }, input)
  },
})

const unblockByOrganization = defineOperation({
  ...OF_ORGANIZATION,
  id: 'organizationUnblockUser',
  method: 'DELETE',
  path: '/orgs/{org}/blocks/{username}',
  summary: 'Unblock a user',
  scopes: ['write:organization'],
  params: { org: 'name of the organization', username: 'user to unblock' },
  query: NO_QUERY,
  success: DONE,
  failures: [400, 403, 404],
  handle: ({ db }, { grant: { who, organization }, params }) =>
    unblock(db, { who, owner: organization }, params['username'] ?? ''),
})

async function blocksPage(
  context: Context,
  query: { readonly page?: number; readonly limit?: number },
  { owner, caller, path }: { readonly owner: Owner; readonly caller: User; readonly path: string },
): Promise<Reply> {
  const page = pageOf(query)
  const { entries, total } = await listBlocked(context.db, owner.id, page)
  const objects = await countedUserObjects(context, entries, caller)
  return pageReply(context, objects, { path, page, total })
}

async function checkBlock(db: Database, owner: Owner, name: string): Promise<Reply> {
  const user = await findOwner(db, name)
  if (user !== undefined && (await isBlockedByAny(db, user.id, [owner.id]))) return { status: 204 }
  throw notFound()
}

async function block(
  db: Database,
  blocker: Blocker,
  input: { readonly name: string; readonly note: string },
): Promise<Reply> {
  await blockUser(db, blocker, input)
  return { status: 204 }
}

async function unblock(db: Database, blocker: Blocker, name: string): Promise<Reply> {
  await unblockUser(db, blocker, name)
  return { status: 204 }
}

export const BLOCK_OPERATIONS: readonly AnyOperation[] = [
  listOwn,
  checkOwn,
  blockOwn,
  unblockOwn,
  listOfOrganization,
  checkOfOrganization,
  blockByOrganization,
  unblockByOrganization,
]
