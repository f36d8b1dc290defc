/** OAuth2 applications of the authenticated user over the API: list, create, read, edit, delete. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  deleteApplication,
  findApplication,
  listApplications,
  type OauthApplication,
} from '../../../sql/accounts/oauth-applications.js'
import {
  type ApplicationInput,
  changeApplication,
  makeApplication,
} from '../../actions/accounts/oauth-application.js'
import { readId } from '../../auth/refusals.js'
import { TIME } from '../../objects/schema.js'
import { apiTime } from '../../objects/times.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const OAUTH2_APPLICATION = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    client_id: Type.String(),
    client_secret: Type.String({ description: 'Only in replies that generate it' }),
    redirect_uris: Type.Array(Type.String()),
    confidential_client: Type.Boolean(),
    skip_secondary_authorization: Type.Boolean(),
    created: TIME,
  },
  { $id: 'OAuth2Application' },
)

const CREATE_OPTIONS = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    redirect_uris: Type.Array(Type.String()),
    confidential_client: Type.Optional(Type.Boolean()),
    skip_secondary_authorization: Type.Optional(Type.Boolean()),
  },
  { $id: 'CreateOAuth2ApplicationOptions' },
)

const PATH = '/user/applications/oauth2'
const ID_PARAM = { id: 'id of the application' }

function applicationObject(
  application: OauthApplication,
  secret = '',
): Static<typeof OAUTH2_APPLICATION> {
  return {
    id: application.id,
    name: application.name,
    client_id: application.clientId,
    client_secret: secret,
    redirect_uris: [...application.redirectUris],
    confidential_client: application.isConfidential,
    skip_secondary_authorization: application.skipsSecondConsent,
    created: apiTime(application.createdAtMs),
  }
}

function inputOf(body: Static<typeof CREATE_OPTIONS>): ApplicationInput {
  return {
    name: body.name,
    redirectUris: body.redirect_uris,
    isConfidential: body.confidential_client ?? false,
    skipsSecondConsent: body.skip_secondary_authorization ?? false,
  }
}

/**
 * Returns the user's id and the application's id. Throws `not_found` if the path has no valid id.
 */
function placeOf(user: { readonly id: number }, params: Readonly<Record<string, string>>) {
  const id = readId(params['id'] ?? '')
  if (id === undefined) throw notFound()
  return { ownerId: user.id, id }
}

const list = defineOperation({
  id: 'userGetOauth2Application',
  method: 'GET',
  path: PATH,
  summary: "List the authenticated user's oauth2 applications",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(OAUTH2_APPLICATION) },
  failures: [],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const { entries, total } = await listApplications(context.db, grant.user.id, page)
    const objects = entries.map((application) => applicationObject(application))
    return pageReply(context, objects, { path: PATH, page, total })
  },
})

const create = defineOperation({
  id: 'userCreateOAuth2Application',
  method: 'POST',
  path: PATH,
  summary: 'Creates a new OAuth2 application',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: CREATE_OPTIONS,
  success: { status: 201, schema: OAUTH2_APPLICATION },
  failures: [400, 422],
  async handle({ db }, { grant, body }) {
    const { application, secret } = await makeApplication(db, grant.user.id, inputOf(body))
    return jsonReply(201, applicationObject(application, secret))
  },
})

const get = defineOperation({
  id: 'userGetOAuth2Application',
  method: 'GET',
  path: `${PATH}/{id}`,
  summary: 'Get an OAuth2 application',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: ID_PARAM,
  query: NO_QUERY,
  success: { status: 200, schema: OAUTH2_APPLICATION },
  failures: [404],
  async handle({ db }, { grant, params }) {
    const { ownerId, id } = placeOf(grant.user, params)
    const application = await findApplication(db, ownerId, id)
    if (application === undefined) throw notFound()
    return jsonReply(200, applicationObject(application))
  },
})

const update = defineOperation({
  id: 'userUpdateOAuth2Application',
  method: 'PATCH',
  path: `${PATH}/{id}`,
  summary: 'Update an OAuth2 application, this includes regenerating the client secret',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: ID_PARAM,
  query: NO_QUERY,
  body: CREATE_OPTIONS,
  success: { status: 200, schema: OAUTH2_APPLICATION },
  failures: [400, 404, 422],
  async handle({ db }, { grant, params, body }) {
    const changed = await changeApplication(db, placeOf(grant.user, params), inputOf(body))
    if (changed === undefined) throw notFound()
    return jsonReply(200, applicationObject(changed.application, changed.secret))
  },
})

const remove = defineOperation({
  id: 'userDeleteOAuth2Application',
  method: 'DELETE',
  path: `${PATH}/{id}`,
  summary: 'Delete an OAuth2 application',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: ID_PARAM,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle({ db }, { grant, params }) {
    if (!(await deleteApplication(db, placeOf(grant.user, params)))) throw notFound()
    return { status: 204 }
  },
})

export const OAUTH_APPLICATION_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  update,
  remove,
]
