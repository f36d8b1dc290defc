/** Users over the API: oneself, and others as they show themselves. */

import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { findVisibleUser, USER_OBJECT, userObject } from './user-object.js'

const getCurrent = defineOperation({
  id: 'userGetCurrent',
  method: 'GET',
  path: '/user',
  summary: 'Get the authenticated user',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: USER_OBJECT },
  failures: [],
  handle: async (context, { grant }) => jsonReply(200, userObject(context, grant.user, grant.user)),
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
    return jsonReply(200, userObject(context, user, viewer))
  },
})

export const USER_OPERATIONS: readonly AnyOperation[] = [getCurrent, get]
