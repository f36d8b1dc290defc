/** Followers over the API: list, check, follow, unfollow. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { addFollow, isFollowing, listFollows, removeFollow } from '../../../sql/accounts/follows.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { Identity } from '../../auth/authenticate.js'
import { visibleOwner } from '../../auth/authorize-accounts.js'
import { refuseBlockedPair } from '../../auth/authorize-blocked.js'
import { viewerOf } from '../../auth/refusals.js'
import { countedUserObjects, USER_OBJECT } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'

const LIST = { status: 200, schema: Type.Array(USER_OBJECT) } as const
const DONE = { status: 204, schema: null } as const

const ownFollowers = defineOperation({
  id: 'userCurrentListFollowers',
  method: 'GET',
  path: '/user/followers',
  summary: "List the authenticated user's followers",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [],
  handle: (context, { grant, query }) =>
    followsPage(context, query, { side: 'followers', owner: grant.user, who: grant.who }),
})

const ownFollowing = defineOperation({
  id: 'userCurrentListFollowing',
  method: 'GET',
  path: '/user/following',
  summary: 'List the users that the authenticated user is following',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [],
  handle: (context, { grant, query }) =>
    followsPage(context, query, { side: 'following', owner: grant.user, who: grant.who }),
})

const followers = defineOperation({
  id: 'userListFollowers',
  method: 'GET',
  path: '/users/{username}/followers',
  summary: "List the given user's followers",
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user'],
  params: { username: 'username of the user whose followers are to be listed' },
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [404],
  async handle(context, { grant: { who }, params, query }) {
    const owner = await visibleOwner(context.db, who, params['username'] ?? '')
    return followsPage(context, query, { side: 'followers', owner, who })
  },
})

const following = defineOperation({
  id: 'userListFollowing',
  method: 'GET',
  path: '/users/{username}/following',
  summary: 'List the users that the given user is following',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user'],
  params: { username: 'username of the user whose followed users are to be listed' },
  query: Type.Object(PAGE_QUERY),
  success: LIST,
  failures: [404],
  async handle(context, { grant: { who }, params, query }) {
    const owner = await visibleOwner(context.db, who, params['username'] ?? '')
    return followsPage(context, query, { side: 'following', owner, who })
  },
})

interface FollowsView {
  readonly side: 'followers' | 'following'
  readonly owner: Owner
  readonly who: Identity
}

async function followsPage(
  context: Context,
  query: { readonly page?: number; readonly limit?: number },
  { side, owner, who }: FollowsView,
): Promise<Reply> {
  const page = pageOf(query)
  const search = { side, ownerId: owner.id, viewer: viewerOf(who) }
  const { entries, total } = await listFollows(context.db, search, page)
  const caller = who.kind === 'user' ? who.user : undefined
  const objects = await countedUserObjects(context, entries, caller)
  return pageReply(context, objects, { path: `/users/${owner.name}/${side}`, page, total })
}

const checkOwn = defineOperation({
  id: 'userCurrentCheckFollowing',
  method: 'GET',
  path: '/user/following/{username}',
  summary: 'Check whether a user is followed by the authenticated user',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { username: 'username of the user to check for authenticated followers' },
  query: NO_QUERY,
  success: DONE,
  failures: [404],
  async handle({ db }, { grant, params }) {
    const { id } = await visibleOwner(db, grant.who, params['username'] ?? '')
    if (await isFollowing(db, { userId: grant.user.id, followedId: id })) return { status: 204 }
    throw notFound()
  },
})

const check = defineOperation({
  id: 'userCheckFollowing',
  method: 'GET',
  path: '/users/{username}/following/{target}',
  summary: 'Check if one user is following another user',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user'],
  params: { username: 'username of the following user', target: 'username of the followed user' },
  query: NO_QUERY,
  success: DONE,
  failures: [404],
  async handle({ db }, { grant, params }) {
    const user = await visibleOwner(db, grant.who, params['username'] ?? '')
    const { id } = await visibleOwner(db, grant.who, params['target'] ?? '')
    if (await isFollowing(db, { userId: user.id, followedId: id })) return { status: 204 }
    throw notFound()
  },
})

const put = defineOperation({
  id: 'userCurrentPutFollow',
  method: 'PUT',
  path: '/user/following/{username}',
  summary: 'Follow a user',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { username: 'username of the user to follow' },
  query: NO_QUERY,
  success: DONE,
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    const { id } = await visibleOwner(db, grant.who, params['username'] ?? '')
    if (id === grant.user.id) return { status: 204 }
    await refuseBlockedPair(db, grant.user, { id })
    await addFollow(db, { userId: grant.user.id, followedId: id })
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'userCurrentDeleteFollow',
  method: 'DELETE',
  path: '/user/following/{username}',
  summary: 'Unfollow a user',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { username: 'username of the user to unfollow' },
  query: NO_QUERY,
  success: DONE,
  failures: [404],
  async handle({ db }, { grant, params }) {
    const { id } = await visibleOwner(db, grant.who, params['username'] ?? '')
    await removeFollow(db, { userId: grant.user.id, followedId: id })
    return { status: 204 }
  },
})

export const FOLLOW_OPERATIONS: readonly AnyOperation[] = [
  ownFollowers,
  ownFollowing,
  followers,
  following,
  checkOwn,
  check,
  put,
  remove,
]
