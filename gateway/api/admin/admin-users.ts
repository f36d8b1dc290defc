/** Accounts and their SSH keys over the API, for site administrators. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import { addUserKey, removeUserKey } from '../../../sql/accounts/keys.js'
import { searchUsers } from '../../../sql/accounts/user-search.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import { changeUser, makeUser, removeUser } from '../../actions/accounts/manage-users.js'
import { readKey } from '../../actions/accounts/read-key.js'
import { renameTo } from '../../actions/accounts/rename-owner.js'
import { viewerOf } from '../../auth/refusals.js'
import {
  CREATE_KEY_OPTION,
  idOf,
  PUBLIC_KEY,
  publicKeyObject,
} from '../../objects/accounts/key-object.js'
import { countedUserObjects, USER_OBJECT, userObject } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const ADMIN = { kind: 'admin' } as const
const USERNAME_PARAM = { username: 'username of the user' }

const VISIBILITY = Type.Optional(Type.Enum(['', 'public', 'limited', 'private']))

const CREATE_USER_OPTION = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 40 }),
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: Type.Optional(Type.String({ maxLength: 255 })),
    full_name: Type.Optional(Type.String({ maxLength: 100 })),
    login_name: Type.Optional(Type.String()),
    source_id: Type.Optional(Type.Integer()),
    must_change_password: Type.Optional(Type.Boolean()),
    restricted: Type.Optional(Type.Boolean()),
    send_notify: Type.Optional(Type.Boolean()),
    visibility: VISIBILITY,
  },
  { $id: 'CreateUserOption' },
)

const RENAME_USER_OPTION = Type.Object(
  { new_username: Type.String({ minLength: 1 }) },
  { $id: 'RenameUserOption' },
)

const EDIT_USER_OPTION = Type.Object(
  {
    source_id: Type.Optional(Type.Integer()),
    login_name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String({ maxLength: 254 })),
    full_name: Type.Optional(Type.String({ maxLength: 100 })),
    password: Type.Optional(Type.String({ maxLength: 255 })),
    must_change_password: Type.Optional(Type.Boolean()),
    website: Type.Optional(Type.String({ maxLength: 255 })),
    location: Type.Optional(Type.String({ maxLength: 50 })),
    description: Type.Optional(Type.String({ maxLength: 255 })),
    active: Type.Optional(Type.Boolean()),
    admin: Type.Optional(Type.Boolean()),
    prohibit_login: Type.Optional(Type.Boolean()),
    restricted: Type.Optional(Type.Boolean()),
    visibility: VISIBILITY,
  },
  { $id: 'EditUserOption' },
)

const list = defineOperation({
  id: 'adminSearchUsers',
  method: 'GET',
  path: '/admin/users',
  summary: 'Search users according filter conditions',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['read:admin'],
  params: {},
  query: Type.Object({
    login_name: Type.Optional(Type.String({ description: "user's login name to search for" })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [403],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const search = { viewer: viewerOf(grant.who), name: query.login_name || undefined }
    const { entries, total } = await searchUsers(context.db, search, page)
    const objects = await countedUserObjects(context, entries, grant.user)
    return pageReply(context, objects, {
      path: '/admin/users',
      query: { login_name: query.login_name },
      page,
      total,
    })
  },
})

const create = defineOperation({
  id: 'adminCreateUser',
  method: 'POST',
  path: '/admin/users',
  summary: 'Create a user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: {},
  query: NO_QUERY,
  body: CREATE_USER_OPTION,
  success: { status: 201, schema: USER_OBJECT },
  failures: [400, 403, 422],
  async handle(context, { grant, body }) {
    refuseUnsupported(body)
    if (!body.password) throw new Failure('bad_request', 'A password is required to create a user.')
    const input = {
      name: body.username,
      email: body.email,
      password: body.password,
      isAdmin: false,
    }
    const user = await makeUser(
      context,
      { ...input, fullName: body.full_name ?? '' },
      { visibility: body.visibility || undefined, mustChangePassword: body.must_change_password },
    )
    return jsonReply(201, userObject(context, user, grant.user))
  },
})

/** Throws `invalid` for options that are not supported, so that they are not ignored silently. */
function refuseUnsupported(body: {
  readonly restricted?: boolean
  readonly source_id?: number
}): void {
  if (body.restricted)
    throw new Failure('invalid', 'This server does not support restricted users.')
  if (body.source_id) {
    throw new Failure('invalid', 'This server does not support other authentication sources.')
  }
}

const edit = defineOperation({
  id: 'adminEditUser',
  method: 'PATCH',
  path: '/admin/users/{username}',
  summary: 'Edit an existing user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: EDIT_USER_OPTION,
  success: { status: 200, schema: USER_OBJECT },
  failures: [400, 403, 404, 422],
  async handle(context, { grant, params, body }) {
    const user = await requireUser(context, params)
    refuseUnsupported(body)
    const changed = await changeUser(
      context,
      { user, admin: grant.user },
      {
        password: body.password || undefined,
        email: body.email || undefined,
        fullName: body.full_name,
        website: body.website,
        location: body.location,
        description: body.description,
        visibility: body.visibility || undefined,
        isActive: body.active,
        isAdmin: body.admin,
        isLoginProhibited: body.prohibit_login,
        mustChangePassword: body.must_change_password,
      },
    )
    return jsonReply(200, userObject(context, changed, grant.user))
  },
})

const remove = defineOperation({
  id: 'adminDeleteUser',
  method: 'DELETE',
  path: '/admin/users/{username}',
  summary: 'Delete a user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: Type.Object({
    purge: Type.Optional(
      Type.Boolean({ description: 'purge the user from the system completely' }),
    ),
  }),
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant, params, query }) {
    const user = await requireUser(context, params)
    const isPurge = query.purge ?? false
    await removeUser(context, { user, admin: grant.user }, { isPurge })
    return { status: 204 }
  },
})

const rename = defineOperation({
  id: 'adminRenameUser',
  method: 'POST',
  path: '/admin/users/{username}/rename',
  summary: 'Rename a user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: RENAME_USER_OPTION,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { params, body }) {
    await renameTo(context, await requireUser(context, params), body.new_username)
    return { status: 204 }
  },
})

const createKey = defineOperation({
  id: 'adminCreatePublicKey',
  method: 'POST',
  path: '/admin/users/{username}/keys',
  summary: 'Add a public key on behalf of a user',
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: CREATE_KEY_OPTION,
  success: { status: 201, schema: PUBLIC_KEY },
  failures: [403, 404, 422],
  async handle(context, { grant, params, body }) {
    const owner = await requireUser(context, params)
    const key = await addUserKey(context.db, { userId: owner.id, ...readKey(body) })
    return jsonReply(201, publicKeyObject(context, key, { owner, viewer: grant.user }))
  },
})

const removeKey = defineOperation({
  id: 'adminDeleteUserPublicKey',
  method: 'DELETE',
  path: '/admin/users/{username}/keys/{id}',
  summary: "Delete a user's public key",
  tags: ['admin'],
  access: ADMIN,
  scopes: ['write:admin'],
  params: { ...USERNAME_PARAM, id: 'id of the key to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { params }) {
    const owner = await requireUser(context, params)
    if (!(await removeUserKey(context.db, owner.id, idOf(params)))) throw notFound()
    return { status: 204 }
  },
})

/** Returns the user `{username}`, whatever their visibility. Throws `not_found`. */
export async function requireUser(
  { db }: Pick<Context, 'db'>,
  params: Readonly<Record<string, string>>,
): Promise<User> {
  const user = await findUser(db, params['username'] ?? '')
  if (user === undefined) throw notFound()
  return user
}

export const ADMIN_USER_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  edit,
  remove,
  rename,
  createKey,
  removeKey,
]
