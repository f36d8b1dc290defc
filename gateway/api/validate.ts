/** Turns an operation into a route, which reads and validates query and body before the handler. */

import type { TObject, TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import { Compile, type Validator } from 'typebox/schema'
import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply, type Request } from '../../conf/http.js'
import { after } from '../../conf/lib/awaitable.js'
import { hasManyValues, JSON_VALUES_MAX, parseJsonText } from '../../conf/lib/json-values.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { readBody } from '../http/incoming-body.js'
import { API_PREFIX } from '../objects/api-prefix.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Route } from '../request/route.js'
import { unlessKnown, withEntityTag } from './entity-tag.js'
import { answerFromKept } from './kept-replies.js'
import type { AnyOperation } from './operation.js'
import { API_SURFACE } from './surface.js'

/** Maximum size of a JSON body. */
const JSON_BYTES_MAX = 1_048_576

/** Returns the route of an operation. It redirects requests for a repository's former name. */
export function routeOf(operation: AnyOperation): AnyRoute {
  const { body: schema } = operation
  let validator: Validator | undefined
  // The schema is compiled on first use, because compiling all of them would delay the start.
  const validatorOf = (schema: TSchema) => {
    validator ??= Compile(schema)
    return validator
  }
  const { method, access, scopes, bodyBytesMax = JSON_BYTES_MAX } = operation
  const rest = restOf(operation.path)
  const handle: Route['handle'] = (context, { request, params, grant }) => {
    if ('hasMoved' in grant && grant.hasMoved) {
      return redirect(context, request, { path: operation.path, repository: grant.repository })
    }
    const query = readQuery(operation.query, request.query)
    const parameters = rest === undefined ? params : { ...params, [rest]: decodeRest(params, rest) }
    const body =
      schema === undefined
        ? undefined
        : readInput(request, { schema, validator: validatorOf(schema), bytesMax: bodyBytesMax })
    const answer = () => {
      const reply = after(body, (body) =>
        operation.handle(context, { request, grant, params: parameters, query, body }),
      )
      return after(reply, (reply) => withEntityTag(request, reply))
    }
    const { dependsOn } = operation
    if (dependsOn !== undefined) {
      return answerFromKept(context, { dependsOn, request, grant, answer })
    }
    return after(answer(), (reply) => unlessKnown(request, reply))
  }
  return {
    surface: API_SURFACE,
    method,
    path: API_PREFIX + operation.path,
    access,
    scopes,
    handle,
  } as AnyRoute
}

/**
 * Returns the name of the parameter that matches all further segments: `filepath` of
 * `…/contents/{filepath...}`.
 */
function restOf(path: string): string | undefined {
  return /\{(\w+)\.\.\.\}$/.exec(path)?.[1]
}

/** Decodes each segment of a rest parameter. A slash sent as `%2F` becomes an ordinary slash. */
function decodeRest(params: Readonly<Record<string, string>>, name: string): string {
  return (params[name] ?? '').split('/').map(decodePercent).join('/')
}

/**
 * Redirects to the same operation on the repository's present name, with status 307, so that
 * clients keep the method and the body.
 */
function redirect(
  context: Context,
  request: Request,
  { path: pattern, repository }: Pick<AnyOperation, 'path'> & { readonly repository: Repository },
): Reply {
  const names = new Map([
    ...OWNER_PARAMS.map((name) => [name, repository.owner.name] as const),
    ...REPOSITORY_PARAMS.map((name) => [name, repository.name] as const),
  ])
  const parts = (API_PREFIX + pattern).split('/')
  const path = request.path
    .slice(request.path.indexOf(`${API_PREFIX}/`))
    .split('/')
    .map((segment, index) => names.get(parts[index] ?? '') ?? segment)
    .join('/')
  const query = request.query === '' ? '' : `?${request.query}`
  return {
    status: 307,
    headers: [['Location', `${context.settings.http.baseUrl}${path}${query}`]],
  }
}

const OWNER_PARAMS = ['{owner}', '{template_owner}']
const REPOSITORY_PARAMS = ['{repo}', '{template_repo}']

/**
 * Reads the query parameters in the schema. Values that cannot be converted are ignored, because
 * Gitea's own clients send `page=` and `limit=abc` and expect the default. If a parameter is
 * repeated, the first value is used; an array uses all values, which may also be separated by
 * commas.
 */
function readQuery(schema: TObject, query: string): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (query === '') return values
  const given = new URLSearchParams(query)
  for (const [name, property] of Object.entries(schema.properties)) {
    const texts = given.getAll(name)
    if (texts.length === 0) continue
    const value = convert(property, texts)
    if (value !== undefined) values[name] = value
  }
  return values
}

function convert(schema: TSchema, texts: readonly string[]): unknown {
  const { type } = schema as { type?: string }
  if (type === 'array')
    return texts.flatMap((text) => text.split(',')).filter((text) => text !== '')
  const [text = ''] = texts
  if (type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
  if (type === 'boolean') return text === 'true' || text === '1'
  return text
}

interface InputOptions {
  readonly schema: TSchema
  readonly validator: Validator
  readonly bytesMax: number
}

/**
 * Reads and validates the body. JSON values are not converted: a number is not a string. Throws
 * `invalid`, `payload_too_large` or `unsupported_media_type`.
 */
async function readInput(
  request: Request,
  { schema, validator, bytesMax }: InputOptions,
): Promise<unknown> {
  const declaredBytes = Number(request.headers.get('content-length') ?? 0)
  const bytes = await readBody(request.body, bytesMax, declaredBytes)
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  const value = parseInput(bytes, type, schema)
  if (validator.Check(value)) return value
  const present = withoutUnset(schema, value)
  if (validator.Check(present)) return present
  const [, [error]] = validator.Errors(present)
  throw new Failure('invalid', describe(error))
}

function parseInput(bytes: Buffer, type: string | undefined, schema: TSchema): unknown {
  if (bytes.length === 0 || type === undefined) return parseJson(bytes)
  if (type === 'application/x-www-form-urlencoded' && 'properties' in schema) {
    return readQuery(schema as TObject, bytes.toString('utf8'))
  }
  if (/^application\/(?:[a-z.+-]+\+)?json$/.test(type)) return parseJson(bytes)
  throw new Failure('unsupported_media_type', 'The body must be application/json.')
}

/**
 * Returns the body without the optional enumerations that are empty, because programs in Go send
 * them if they are not set.
 */
function withoutUnset(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>>
    readonly required?: readonly string[]
  }
  const isUnset = (name: string, field: unknown) =>
    field === '' &&
    Object.hasOwn(properties, name) &&
    properties[name]?.enum !== undefined &&
    !required.includes(name)
  const entries = Object.entries(value).filter(([name, field]) => !isUnset(name, field))
  return Object.fromEntries(entries)
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {}
  const text = bytes.toString('utf8')
  if (hasManyValues(text, JSON_VALUES_MAX)) {
    throw new Failure('invalid', `[]: the body has more than ${JSON_VALUES_MAX} values`)
  }
  try {
    return parseJsonText(text)
  } catch (cause) {
    throw new Failure('invalid', '[]: the body is not JSON', { cause })
  }
}

/** Returns the error in Gitea's wording, which clients know: `[Name]: Required`. */
function describe(error: TLocalizedValidationError | undefined): string {
  if (error === undefined) return '[]: the body does not match its schema'
  if (error.keyword === 'required') {
    const { requiredProperties } = error.params as { requiredProperties: readonly string[] }
    return `[${fieldName(requiredProperties[0] ?? '')}]: Required`
  }
  const field = error.instancePath.split('/')[1] ?? ''
  if (error.keyword === 'minLength') return `[${fieldName(field)}]: Required`
  return `[${fieldName(field)}]: ${error.message}`
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  username: 'UserName',
  new_branch_name: 'BranchName',
  sha: 'SHA',
}

/** Returns Gitea's name of a field: `AutoInit` for `auto_init`. */
function fieldName(key: string): string {
  const words = key.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return FIELD_NAMES[key] ?? words.join('')
}
