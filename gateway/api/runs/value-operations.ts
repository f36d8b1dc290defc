/** Operations on the secrets and variables of one kind of scope. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  createValue,
  findValue,
  listValues,
  removeValue,
  updateValue,
  type ValueScope,
} from '../../../sql/runs/scoped-values.js'
import { putSecret, readValue, readValueName } from '../../actions/runs/put-values.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import {
  ACTION_VARIABLE,
  CREATE_OR_UPDATE_SECRET_OPTION,
  CREATE_VARIABLE_OPTION,
  SECRET,
  secretObject,
  UPDATE_VARIABLE_OPTION,
  variableObject,
} from '../../objects/runs/value-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation, type Operation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Id and summary of an operation. */
type Name = readonly [id: string, summary: string]

/** Differences between the scopes. */
export interface ValueOperationsOptions<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'access' | 'params'> {
  /** Tag of the operations, and category of their scopes. */
  readonly category: 'repository' | 'organization' | 'user' | 'admin'
  readonly secrets: {
    /** Absent if Gitea does not have the operation. */
    readonly list?: Name
    readonly put: Name
    readonly remove: Name
  }
  readonly variables: Readonly<Record<'list' | 'get' | 'create' | 'update' | 'remove', Name>>
  /** Returns the scope, and its path below `/api/v1`. Throws `not_found` if it has no Actions. */
  locate(context: Context, grant: Grants[K]): { readonly scope: ValueScope; readonly path: string }
}

/** Returns the operations on the secrets and variables of one kind of scope. */
export function valueOperations<K extends AccessKind>(
  home: ValueOperationsOptions<K>,
): readonly AnyOperation[] {
  return [...secretOperations(home), ...variableOperations(home)]
}

function secretOperations<K extends AccessKind>(
  home: ValueOperationsOptions<K>,
): readonly AnyOperation[] {
  const { access, category, params, secrets, locate } = home
  const path = `${home.path}/secrets`
  const one = {
    access,
    path: `${path}/{secretname}`,
    tags: [category],
    scopes: [`write:${category}`],
    params: { ...params, secretname: 'name of the secret' },
    query: NO_QUERY,
  } as const
  const put = defineOperation({
    ...one,
    ...named(secrets.put),
    method: 'PUT',
    body: CREATE_OR_UPDATE_SECRET_OPTION,
    success: { status: 201, schema: null },
    failures: [400, 403, 404, 422],
    async handle(context, { grant, params, body: { data: value, description } }) {
      const { scope } = locate(context, grant)
      const name = params['secretname'] ?? ''
      const isNew = await putSecret(context, scope, { name, value, description })
      return { status: isNew ? 201 : 204 }
    },
  })
  const remove = defineOperation({
    ...one,
    ...named(secrets.remove),
    method: 'DELETE',
    success: { status: 204, schema: null },
    failures: [400, 403, 404],
    async handle(context, { grant, params }) {
      const { scope } = locate(context, grant)
      const name = readValueName(params['secretname'] ?? '')
      if (!(await removeValue(context.db, 'secrets', { scope, name }))) throw notFound()
      return { status: 204 }
    },
  })
  if (secrets.list === undefined) return [put, remove]
  const list = defineOperation({
    ...named(secrets.list),
    access,
    path,
    tags: [category],
    scopes: [`read:${category}`],
    params,
    query: Type.Object(PAGE_QUERY),
    method: 'GET',
    success: { status: 200, schema: Type.Array(SECRET) },
    failures: [403, 404],
    async handle(context, { grant, query }) {
      const { scope, path } = locate(context, grant)
      const page = pageOf(query)
      const { entries, total } = await listValues(context.db, 'secrets', { scope, page })
      const reply = { path: `${path}/secrets`, page, total }
      return pageReply(context, entries.map(secretObject), reply)
    },
  })
  return [list, put, remove]
}

function variableOperations<K extends AccessKind>(
  home: ValueOperationsOptions<K>,
): readonly AnyOperation[] {
  const { access, category, variables, locate } = home
  const path = `${home.path}/variables`
  const common = { access, tags: [category] } as const
  const reading = { scopes: [`read:${category}`] } as const
  const writing = { scopes: [`write:${category}`] } as const
  const params = { ...home.params, variablename: 'name of the variable' }
  const one = { ...common, path: `${path}/{variablename}`, params, query: NO_QUERY } as const
  const nameOf = (of: Readonly<Record<string, string>>) => readValueName(of['variablename'] ?? '')
  return [
    defineOperation({
      ...common,
      ...named(variables.list),
      ...reading,
      method: 'GET',
      path,
      params: home.params,
      query: Type.Object(PAGE_QUERY),
      success: { status: 200, schema: Type.Array(ACTION_VARIABLE) },
      failures: [403, 404],
      async handle(context, { grant, query }) {
        const { scope, path } = locate(context, grant)
        const page = pageOf(query)
        const { entries, total } = await listValues(context.db, 'variables', { scope, page })
        const objects = entries.map((variable) => variableObject(scope, variable))
        return pageReply(context, objects, { path: `${path}/variables`, page, total })
      },
    }),
    defineOperation({
      ...one,
      ...named(variables.get),
      ...reading,
      method: 'GET',
      success: { status: 200, schema: ACTION_VARIABLE },
      failures: [400, 403, 404],
      async handle(context, { grant, params }) {
        const { scope } = locate(context, grant)
        const name = nameOf(params)
        const variable = await findValue(context.db, 'variables', { scope, name })
        if (variable === undefined) throw notFound()
        return jsonReply(200, variableObject(scope, variable))
      },
    }),
    defineOperation({
      ...one,
      ...named(variables.create),
      ...writing,
      method: 'POST',
      body: CREATE_VARIABLE_OPTION,
      success: { status: 201, schema: null },
      failures: [400, 403, 404, 409, 422],
      async handle(context, { grant, params, body: { value, description } }) {
        const { scope } = locate(context, grant)
        const variable = readValue({ name: nameOf(params), value, description })
        await createValue(context.db, 'variables', { scope, ...variable })
        return { status: 201 }
      },
    }),
    defineOperation({
      ...one,
      ...named(variables.update),
      ...writing,
      method: 'PUT',
      body: UPDATE_VARIABLE_OPTION,
      success: { status: 204, schema: null },
      failures: [400, 403, 404, 409, 422],
      async handle(context, { grant, params, body }) {
        const { scope } = locate(context, grant)
        const name = nameOf(params)
        const { value, description } = body
        const to = readValue({ name: body.name || name, value, description })
        const isThere = await updateValue(context.db, 'variables', { scope, name, to })
        if (!isThere) throw notFound()
        return { status: 204 }
      },
    }),
    defineOperation({
      ...one,
      ...named(variables.remove),
      ...writing,
      method: 'DELETE',
      success: { status: 204, schema: null },
      failures: [400, 403, 404],
      async handle(context, { grant, params }) {
        const { scope } = locate(context, grant)
        const name = nameOf(params)
        if (!(await removeValue(context.db, 'variables', { scope, name }))) throw notFound()
        return { status: 204 }
      },
    }),
  ]
}

function named([id, summary]: Name) {
  return { id, summary }
}
