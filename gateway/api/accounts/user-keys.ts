/** SSH keys of users over the API: list, add, read, remove. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { addUserKey, findUserKey, listUserKeys, removeUserKey } from '../../../sql/accounts/keys.js'
import { readKey } from '../../actions/accounts/read-key.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import {
  CREATE_KEY_OPTION,
  FINGERPRINT_QUERY,
  fingerprintOf,
  idOf,
  type KeyView,
  PUBLIC_KEY,
  publicKeyObject,
} from '../../objects/accounts/key-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const KEYS_QUERY = Type.Object({ ...FINGERPRINT_QUERY, ...PAGE_QUERY })

const listOwn = defineOperation({
  id: 'userCurrentListKeys',
  method: 'GET',
  path: '/user/keys',
  summary: "List the authenticated user's public keys",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: KEYS_QUERY,
  success: { status: 200, schema: Type.Array(PUBLIC_KEY) },
  failures: [],
  handle: (context, { grant, query }) =>
    list(context, query, { path: '/user/keys', owner: grant.user, viewer: grant.user }),
})

const listOf = defineOperation({
  id: 'userListKeys',
  method: 'GET',
  path: '/users/{username}/keys',
  summary: "List the given user's public keys",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { username: 'username of the user whose public keys are to be listed' },
  query: KEYS_QUERY,
  success: { status: 200, schema: Type.Array(PUBLIC_KEY) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const owner = await findVisibleUser(context.db, params['username'] ?? '', grant.user)
    const path = `/users/${owner.name}/keys`
    return list(context, query, { path, owner, viewer: grant.user })
  },
})

async function list(
  context: Context,
  query: Type.Static<typeof KEYS_QUERY>,
  { path, owner, viewer }: KeyView & { readonly path: string },
): Promise<Reply> {
  const page = pageOf(query)
  const fingerprint = fingerprintOf(query)
  const { entries, total } = await listUserKeys(context.db, owner.id, { page, fingerprint })
  const objects = entries.map((key) => publicKeyObject(context, key, { owner, viewer }))
  return pageReply(context, objects, { path, page, total })
}

const create = defineOperation({
  id: 'userCurrentPostKey',
  method: 'POST',
  path: '/user/keys',
  summary: 'Create a public key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: CREATE_KEY_OPTION,
  success: { status: 201, schema: PUBLIC_KEY },
  failures: [422],
  async handle(context, { grant, body }) {
    const { user } = grant
    const key = await addUserKey(context.db, { userId: user.id, ...readKey(body) })
    return jsonReply(201, publicKeyObject(context, key, { owner: user, viewer: user }))
  },
})

const get = defineOperation({
  id: 'userCurrentGetKey',
  method: 'GET',
  path: '/user/keys/{id}',
  summary: 'Get a public key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { id: 'id of key to get' },
  query: NO_QUERY,
  success: { status: 200, schema: PUBLIC_KEY },
  failures: [404],
  async handle(context, { grant, params }) {
    const { user } = grant
    const key = await findUserKey(context.db, user.id, idOf(params))
    if (key === undefined) throw notFound()
    return jsonReply(200, publicKeyObject(context, key, { owner: user, viewer: user }))
  },
})

const remove = defineOperation({
  id: 'userCurrentDeleteKey',
  method: 'DELETE',
  path: '/user/keys/{id}',
  summary: 'Delete a public key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { id: 'id of key to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    if (!(await removeUserKey(context.db, grant.user.id, idOf(params)))) throw notFound()
    return { status: 204 }
  },
})

export const USER_KEY_OPERATIONS: readonly AnyOperation[] = [listOwn, listOf, create, get, remove]
