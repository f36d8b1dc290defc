/** The API description `/swagger.v1.json`, generated from the operations. */

import type { TSchema } from 'typebox'
import { API_PREFIX } from '../objects/api-prefix.js'
import type { Route } from '../request/route.js'
import { plainPath } from '../request/route-table.js'
import { API_VERSION } from './admin/version.js'
import type { AnyOperation } from './operation.js'
import { API_SURFACE, jsonReply } from './surface.js'

type Json = { readonly [key: string]: unknown }

const DESCRIPTION_PATH = '/swagger.v1.json'

/**
 * Returns the routes of the description, and of `/api/swagger`, the URL in every error, and
 * `/api/v1/swagger`, which redirect to it.
 */
export function swaggerRoutes(operations: readonly AnyOperation[]): readonly Route<'open'>[] {
  const describe: Route<'open'>['handle'] = async ({ settings }) =>
    jsonReply(200, describeApi(operations, settings.http.basePath))
  const redirect: Route<'open'>['handle'] = async ({ settings }) => ({
    status: 302,
    headers: [['Location', settings.http.basePath + DESCRIPTION_PATH]],
  })
  return [
    openRoute(DESCRIPTION_PATH, describe),
    openRoute('/api/swagger', redirect),
    openRoute(`${API_PREFIX}/swagger`, redirect),
  ]
}

function openRoute(path: string, handle: Route<'open'>['handle']): Route<'open'> {
  return { surface: API_SURFACE, method: 'GET', path, access: { kind: 'open' }, scopes: [], handle }
}

/** Returns the description of these operations (Swagger 2.0). */
export function describeApi(operations: readonly AnyOperation[], basePath: string): Json {
  const definitions: Record<string, Json> = {}
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const path = plainPath(operation.path)
    const methods = paths[path] ?? {}
    methods[operation.method.toLowerCase()] = describeOperation(operation, definitions)
    paths[path] = methods
  }
  return {
    swagger: '2.0',
    info: {
      title: 'Gitea API',
      description: 'The part of the Gitea API that Gatehouse serves.',
      license: { name: 'MIT' },
      version: API_VERSION,
    },
    basePath: basePath + API_PREFIX,
    schemes: ['https', 'http'],
    consumes: ['application/json', 'text/plain'],
    produces: ['application/json', 'text/html'],
    paths,
    definitions: { ...definitions, APIError: API_ERROR },
    responses: RESPONSES,
    securityDefinitions: SECURITY_DEFINITIONS,
    security: Object.keys(SECURITY_DEFINITIONS).map((name) => ({ [name]: [] })),
  }
}

const API_ERROR = {
  type: 'object',
  properties: { message: { type: 'string' }, url: { type: 'string' } },
}

const ERROR_SCHEMA = { $ref: '#/definitions/APIError' }

const RESPONSES = {
  error: { description: 'The request cannot be carried out.', schema: ERROR_SCHEMA },
  unauthorized: {
    description: 'Credentials are missing, wrong or too narrow.',
    schema: ERROR_SCHEMA,
  },
  forbidden: { description: 'The caller may not do this.', schema: ERROR_SCHEMA },
  notFound: {
    description: 'It does not exist, or the caller may not see it.',
    schema: ERROR_SCHEMA,
  },
  conflict: { description: 'It exists already, or has changed meanwhile.', schema: ERROR_SCHEMA },
  validationError: { description: 'A field is missing or wrong.', schema: ERROR_SCHEMA },
  empty: { description: 'No content.' },
  redirect: { description: 'The answer is at another address.' },
}

const RESPONSE_BY_STATUS: Readonly<Record<number, keyof typeof RESPONSES>> = {
  302: 'redirect',
  303: 'redirect',
  400: 'error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  422: 'validationError',
}

const SECURITY_DEFINITIONS = {
  BasicAuth: { type: 'basic' },
  AuthorizationHeaderToken: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    description: 'API tokens must be prepended with "token " or "Bearer ".',
  },
  SudoParam: {
    type: 'apiKey',
    name: 'sudo',
    in: 'query',
    description: 'Sudo API request as the user provided as the key. Admin privileges are required.',
  },
  SudoHeader: {
    type: 'apiKey',
    name: 'Sudo',
    in: 'header',
    description: 'Sudo API request as the user provided as the key. Admin privileges are required.',
  },
}

function describeOperation(operation: AnyOperation, definitions: Record<string, Json>): Json {
  const { id, summary, tags, params, query, body, file, success, failures } = operation
  const parameters: Json[] = Object.entries(params).map(([name, description]) => ({
    name,
    in: 'path',
    description,
    required: true,
    type: 'string',
  }))
  for (const [name, schema] of Object.entries(query.properties)) {
    parameters.push({ ...plainSchema(schema, definitions, 'input'), name, in: 'query' })
  }
  if (body !== undefined) {
    parameters.push({ name: 'body', in: 'body', schema: plainSchema(body, definitions, 'input') })
  }
  if (file !== undefined) {
    const { field: name, about: description } = file
    parameters.push({ name, in: 'formData', description, type: 'file' })
  }
  const needsCredentials = operation.access.kind !== 'open' && operation.access.kind !== 'anyone'
  const statuses = needsCredentials ? [401, ...failures] : failures
  const responses: Record<string, Json> = {
    [success.status]: describeSuccess(success, definitions),
  }
  for (const status of statuses) {
    responses[status] = { $ref: `#/responses/${RESPONSE_BY_STATUS[status] ?? 'error'}` }
  }
  const consumes = file === undefined ? {} : { consumes: FILE_TYPES }
  const produces = ['application/json']
  return { operationId: id, summary, tags, ...consumes, produces, parameters, responses }
}

/** Content types of an uploaded file. */
const FILE_TYPES = ['multipart/form-data', 'application/octet-stream']

function describeSuccess(
  { schema }: AnyOperation['success'],
  definitions: Record<string, Json>,
): Json {
  if (schema === null) return { $ref: '#/responses/empty' }
  return { description: 'Success.', schema: plainSchema(schema, definitions, 'output') }
}

/**
 * Direction of a schema. Inputs list their required fields; outputs do not, because replies have
 * all fields.
 */
type Role = 'input' | 'output'

/**
 * Converts a schema to Swagger 2.0. A schema with an `$id` moves to the definitions, but a field's
 * `x-nullable` and `x-omitempty` stay at the field.
 */
function plainSchema(schema: TSchema, definitions: Record<string, Json>, role: Role): Json {
  const { $id, ...rest } = schema as Json & { $id?: string }
  if ($id === undefined) return plainFields(rest, definitions, role)
  const entries = Object.entries(rest)
  const isOfField = ([key]: readonly [string, unknown]) => FIELD_MARKS.includes(key)
  const own = Object.fromEntries(entries.filter((entry) => !isOfField(entry)))
  definitions[$id] = plainFields(own, definitions, role)
  return { $ref: `#/definitions/${$id}`, ...Object.fromEntries(entries.filter(isOfField)) }
}

const FIELD_MARKS = ['x-nullable', 'x-omitempty']

function plainFields(schema: Json, definitions: Record<string, Json>, role: Role): Json {
  const plain: Record<string, unknown> = { ...schema }
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (properties !== undefined) {
    plain['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [
        name,
        plainSchema(value, definitions, role),
      ]),
    )
    if (role === 'output') delete plain['required']
  }
  if (items !== undefined) plain['items'] = plainSchema(items, definitions, role)
  if ('enum' in schema) plain['type'] = 'string'
  return plain
}
