/** Access tokens over the API, for users who sign in with their password: list, create, revoke. */

import { type Static, Type } from 'typebox'
import { Failure, isFailure } from '../../../conf/failures.js'
import { deleteToken, findToken, listTokens, type Token } from '../../../sql/accounts/tokens.js'
import { issueToken } from '../../actions/accounts/issue-token.js'
import { apiTime, NEVER } from '../../objects/times.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import {
  LIMIT_FIELDS,
  LIMIT_OPTIONS,
  limitsOf,
  type ShownLimits,
  shownLimits,
} from './token-limits.js'

const ACCESS_TOKEN = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    sha1: Type.String({ description: 'The token itself, only in the answer that creates it' }),
    token_last_eight: Type.String(),
    scopes: Type.Array(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    last_used_at: Type.String({ format: 'date-time' }),
    ...LIMIT_FIELDS,
  },
  { $id: 'AccessToken' },
)

const CREATE_ACCESS_TOKEN_OPTION = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    ...LIMIT_OPTIONS,
  },
  { $id: 'CreateAccessTokenOption' },
)

const USERNAME_PARAM = { username: 'username of the user whose access tokens these are' }

interface ShownToken {
  readonly token: Token
  readonly limits: ShownLimits
  /** The token itself; absent unless it was just created, because only its hash is stored. */
  readonly plain?: string
}

function tokenObject({ token, limits, plain = '' }: ShownToken): Static<typeof ACCESS_TOKEN> {
  return {
    id: token.id,
    name: token.name,
    sha1: plain,
    token_last_eight: token.lastEight,
    scopes: [...token.scopes],
    created_at: apiTime(token.createdAtMs),
    last_used_at: token.lastUsedAtMs === undefined ? NEVER : apiTime(token.lastUsedAtMs),
    ...limits,
  }
}

const list = defineOperation({
  id: 'userGetTokens',
  method: 'GET',
  path: '/users/{username}/tokens',
  summary: "List the authenticated user's access tokens",
  tags: ['user'],
  access: { kind: 'account' },
  scopes: [],
  params: USERNAME_PARAM,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(ACCESS_TOKEN) },
  failures: [403],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const { entries, total } = await listTokens(context.db, grant.account.id, page)
    const path = `/users/${grant.account.name}/tokens`
    const shown = await shownLimits(context, grant.account, entries)
    const objects = entries.map((token) => tokenObject({ token, limits: shown(token) }))
    return pageReply(context, objects, { path, page, total })
  },
})

const create = defineOperation({
  id: 'userCreateToken',
  method: 'POST',
  path: '/users/{username}/tokens',
  summary: 'Create an access token',
  tags: ['user'],
  access: { kind: 'account' },
  scopes: [],
  params: USERNAME_PARAM,
  query: NO_QUERY,
  body: CREATE_ACCESS_TOKEN_OPTION,
  success: { status: 201, schema: ACCESS_TOKEN },
  failures: [400, 403, 422],
  async handle(context, { grant, body }) {
    const holder = grant.account
    const limits = await limitsOf(context, holder, body)
    try {
      const { token, plain } = await issueToken(context.db, {
        userId: grant.account.id,
        name: body.name,
        scopes: body.scopes ?? [],
        limits,
      })
      const shown = await shownLimits(context, holder, [token])
      return jsonReply(201, tokenObject({ token, limits: shown(token), plain }))
    } catch (error) {
      // Gitea replies 400 if the name is taken; other operations reply 409.
      if (isFailure(error, 'conflict')) throw new Failure('bad_request', error.message)
      throw error
    }
  },
})

const remove = defineOperation({
  id: 'userDeleteAccessToken',
  method: 'DELETE',
  path: '/users/{username}/tokens/{token}',
  summary: 'Delete an access token',
  tags: ['user'],
  access: { kind: 'account' },
  scopes: [],
  params: { ...USERNAME_PARAM, token: 'token to be deleted, identified by ID or name' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant, params }) {
    const token = await findToken(context.db, grant.account.id, params['token'] ?? '')
    if (token === undefined || !(await deleteToken(context.db, grant.account.id, token.id))) {
      throw new Failure('not_found', 'access token does not exist')
    }
    return { status: 204 }
  },
})

export const TOKEN_OPERATIONS: readonly AnyOperation[] = [list, create, remove]
