/** Users over the API: the authenticated user, another user by name, and a search. */

import { Type } from 'typebox'
import { searchUsers } from '../../../sql/accounts/user-search.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { countedUserObjects, USER_OBJECT } from '../../objects/accounts/user-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply, wrapSearchResults } from '../paging.js'
import { jsonReply } from '../surface.js'

const getCurrent = defineOperation({
  id: 'userGetCurrent',
  method: 'GET',
  path: '/user',
  summary: 'Get the authenticated user',
  tags: ['user'],
  access: { kind: 'signed-in', isForBoundTokens: true },
  scopes: ['read:user'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: USER_OBJECT },
  failures: [],
  async handle(context, { grant }) {
    const [object] = await countedUserObjects(context, [grant.user], grant.user)
    return jsonReply(200, object)
  },
})

const get = defineOperation({
  id: 'userGet',
  method: 'GET',
  path: '/users/{username}',
  summary: 'Get a user',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user'],
  params: { username: 'username of the user' },
  query: NO_QUERY,
  success: { status: 200, schema: USER_OBJECT },
  failures: [404],
  async handle(context, { grant, params }) {
    const viewer = grant.who.kind === 'user' ? grant.who.user : undefined
    const user = await findVisibleUser(context.db, params['username'] ?? '', viewer)
    const [object] = await countedUserObjects(context, [user], viewer)
    return jsonReply(200, object)
  },
})

const search = defineOperation({
  id: 'userSearch',
  method: 'GET',
  path: '/users/search',
  summary: 'Search for users',
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user'],
  params: {},
  query: Type.Object({
    q: Type.Optional(Type.String({ description: 'keyword' })),
    uid: Type.Optional(Type.Integer({ description: 'ID of the user to search for' })),
    ...PAGE_QUERY,
  }),
  success: {
    status: 200,
    schema: Type.Object({ ok: Type.Boolean(), data: Type.Array(USER_OBJECT) }),
  },
  failures: [],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const user = grant.who.kind === 'user' ? grant.who.user : undefined
    const { entries, total } = await searchUsers(
      context.db,
      { viewer: viewerOf(grant.who), text: query.q, id: query.uid || undefined },
      page,
    )
    const objects = await countedUserObjects(context, entries, user)
    return pageReply(context, objects, {
      path: '/users/search',
      page,
      total,
      wrap: wrapSearchResults,
      query: { q: query.q, uid: query.uid === undefined ? undefined : `${query.uid}` },
    })
  },
})

export const USER_OPERATIONS: readonly AnyOperation[] = [getCurrent, get, search]
