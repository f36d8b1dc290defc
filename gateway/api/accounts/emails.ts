/** E-mail addresses over the API: those of the user, and for administrators those of all. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { EMAIL_CHARACTERS_MAX, parseEmail } from '../../../conf/names.js'
import {
  addEmails,
  EMAILS_MAX,
  type Email,
  listEmails,
  removeEmails,
  searchEmails,
} from '../../../sql/accounts/emails.js'
import { conflictAsInvalid } from '../../actions/accounts/conflict-as-invalid.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const EMAIL = Type.Object(
  {
    email: Type.String({ format: 'email' }),
    verified: Type.Boolean(),
    primary: Type.Boolean(),
    user_id: Type.Integer(),
    username: Type.String(),
  },
  { $id: 'Email' },
)

const ADDRESSES = {
  emails: Type.Optional(
    Type.Array(Type.String({ maxLength: EMAIL_CHARACTERS_MAX }), { maxItems: EMAILS_MAX }),
  ),
}

const CREATE_EMAIL_OPTION = Type.Object(ADDRESSES, { $id: 'CreateEmailOption' })
const DELETE_EMAIL_OPTION = Type.Object(ADDRESSES, { $id: 'DeleteEmailOption' })

const list = defineOperation({
  id: 'userListEmails',
  method: 'GET',
  path: '/user/emails',
  summary: "List the authenticated user's email addresses",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(EMAIL) },
  failures: [],
  handle: async ({ db }, { grant }) =>
    jsonReply(200, (await listEmails(db, grant.user.id)).map(emailObject)),
})

const add = defineOperation({
  id: 'userAddEmail',
  method: 'POST',
  path: '/user/emails',
  summary: 'Add email addresses',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: CREATE_EMAIL_OPTION,
  success: { status: 201, schema: Type.Array(EMAIL) },
  failures: [422],
  async handle({ db }, { grant, body }) {
    const { emails = [] } = body
    if (emails.length === 0) throw new Failure('invalid', 'Email list empty')
    const addresses = emails.map(parseEmail)
    await conflictAsInvalid(() => addEmails(db, grant.user.id, addresses))
    return jsonReply(201, (await listEmails(db, grant.user.id)).map(emailObject))
  },
})

const remove = defineOperation({
  id: 'userDeleteEmail',
  method: 'DELETE',
  path: '/user/emails',
  summary: 'Delete email addresses',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: DELETE_EMAIL_OPTION,
  success: { status: 204, schema: null },
  failures: [404, 422],
  async handle({ db }, { grant, body }) {
    await removeEmails(db, grant.user.id, body.emails ?? [])
    return { status: 204 }
  },
})

const listAll = defineOperation({
  id: 'adminGetAllEmails',
  method: 'GET',
  path: '/admin/emails',
  summary: "List all users' email addresses",
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['read:admin'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(EMAIL) },
  failures: [403],
  handle: (context, { query }) => emailsPage(context, query, '/admin/emails'),
})

const search = defineOperation({
  id: 'adminSearchEmails',
  method: 'GET',
  path: '/admin/emails/search',
  summary: "Search users' email addresses",
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['read:admin'],
  params: {},
  query: Type.Object({
    q: Type.Optional(Type.String({ description: 'keyword' })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(EMAIL) },
  failures: [403],
  handle: (context, { query }) => emailsPage(context, query, '/admin/emails/search'),
})

async function emailsPage(
  context: Context,
  query: { readonly q?: string; readonly page?: number; readonly limit?: number },
  path: string,
): Promise<Reply> {
  const page = pageOf(query)
  const { entries, total } = await searchEmails(context.db, query.q ?? '', page)
  const objects = entries.map(emailObject)
  return pageReply(context, objects, { path, query: { q: query.q }, page, total })
}

function emailObject({ address, isVerified, isPrimary, userId, userName }: Email) {
  return {
    email: address,
    verified: isVerified,
    primary: isPrimary,
    user_id: userId,
    username: userName,
  }
}

export const EMAIL_OPERATIONS: readonly AnyOperation[] = [list, add, remove, listAll, search]
