/** OpenPGP keys of users over the API: list, add, verify, read, remove. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { findGpgKey, listGpgKeys, removeGpgKey } from '../../../sql/accounts/gpg-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  addSentGpgKey,
  gpgToken,
  proveGpgKey,
  verifiedAddresses,
} from '../../actions/accounts/add-gpg-key.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import {
  CREATE_GPG_KEY_OPTION,
  GPG_KEY,
  gpgKeyObject,
  VERIFY_GPG_KEY_OPTION,
} from '../../objects/accounts/gpg-key-object.js'
import { idOf } from '../../objects/accounts/key-object.js'
import { FILE } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const KEYS_QUERY = Type.Object(PAGE_QUERY)

const listOwn = defineOperation({
  id: 'userCurrentListGPGKeys',
  method: 'GET',
  path: '/user/gpg_keys',
  summary: "List the authenticated user's GPG keys",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: KEYS_QUERY,
  success: { status: 200, schema: Type.Array(GPG_KEY) },
  failures: [],
  handle: (context, { grant, query }) =>
    list(context, query, { path: '/user/gpg_keys', owner: grant.user }),
})

const listOf = defineOperation({
  id: 'userListGPGKeys',
  method: 'GET',
  path: '/users/{username}/gpg_keys',
  summary: "List the given user's GPG keys",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { username: 'username of the user whose GPG key list is to be obtained' },
  query: KEYS_QUERY,
  success: { status: 200, schema: Type.Array(GPG_KEY) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const owner = await findVisibleUser(context.db, params['username'] ?? '', grant.user)
    return list(context, query, { path: `/users/${owner.name}/gpg_keys`, owner })
  },
})

async function list(
  context: Context,
  query: Type.Static<typeof KEYS_QUERY>,
  { path, owner }: { readonly path: string; readonly owner: User },
): Promise<Reply> {
  const page = pageOf(query)
  const { entries, total } = await listGpgKeys(context.db, owner.id, page)
  const own = await verifiedAddresses(context, owner)
  return pageReply(
    context,
    entries.map((key) => gpgKeyObject(key, own)),
    { path, page, total },
  )
}

const create = defineOperation({
  id: 'userCurrentPostGPGKey',
  method: 'POST',
  path: '/user/gpg_keys',
  summary: 'Create a GPG key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: CREATE_GPG_KEY_OPTION,
  success: { status: 201, schema: GPG_KEY },
  failures: [404, 422],
  async handle(context, { grant: { user }, body }) {
    const key = await addSentGpgKey(context, user, {
      armoredKey: body.armored_public_key,
      armoredSignature: body.armored_signature ?? '',
    })
    return jsonReply(201, gpgKeyObject(key, await verifiedAddresses(context, user)))
  },
})

const token = defineOperation({
  id: 'getVerificationToken',
  method: 'GET',
  path: '/user/gpg_key_token',
  summary: 'Get a Token to verify',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: FILE },
  failures: [404],
  handle: (_context, { grant }) => ({
    status: 200,
    headers: [['Content-Type', 'text/plain;charset=utf-8']],
    body: gpgToken(grant.user),
  }),
})

const verify = defineOperation({
  id: 'userVerifyGPGKey',
  method: 'POST',
  path: '/user/gpg_key_verify',
  summary: 'Verify a GPG key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: VERIFY_GPG_KEY_OPTION,
  success: { status: 201, schema: GPG_KEY },
  failures: [404, 422],
  async handle(context, { grant: { user }, body }) {
    const { key_id: keyId, armored_signature: armoredSignature } = body
    const key = await proveGpgKey(context, user, { keyId, armoredSignature })
    return jsonReply(201, gpgKeyObject(key, await verifiedAddresses(context, user)))
  },
})

const get = defineOperation({
  id: 'userCurrentGetGPGKey',
  method: 'GET',
  path: '/user/gpg_keys/{id}',
  summary: 'Get a GPG key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { id: 'id of key to get' },
  query: NO_QUERY,
  success: { status: 200, schema: GPG_KEY },
  failures: [404],
  async handle(context, { grant: { user }, params }) {
    const key = await findGpgKey(context.db, user.id, idOf(params))
    if (key === undefined) throw notFound()
    return jsonReply(200, gpgKeyObject(key, await verifiedAddresses(context, user)))
  },
})

const remove = defineOperation({
  id: 'userCurrentDeleteGPGKey',
  method: 'DELETE',
  path: '/user/gpg_keys/{id}',
  summary: 'Remove a GPG key',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { id: 'id of key to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    if (!(await removeGpgKey(context.db, grant.user.id, idOf(params)))) throw notFound()
    return { status: 204 }
  },
})

export const GPG_KEY_OPERATIONS: readonly AnyOperation[] = [
  listOwn,
  listOf,
  create,
  token,
  verify,
  get,
  remove,
]
