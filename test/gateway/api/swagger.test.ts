/** Description of the API: valid, complete, and consistent with the server's responses. */

import SwaggerParser from '@apidevtools/swagger-parser'
import t from 'tap'
import { Compile } from 'typebox/schema'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { describeApi } from '../../../gateway/api/swagger.js'
import { routeOf } from '../../../gateway/api/validate.js'
import { auditedAction } from '../../../gateway/request/audited-routes.js'
import { createRouteTable } from '../../../gateway/request/route-table.js'
import { isExpected } from '../../helpers/expected.js'
import { startGateway } from '../../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import type { Answer } from '../../helpers/requests.js'
import { successes } from '../../helpers/successes/all.js'

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, { readonly schema?: Json }>>
}
type Json = { readonly [key: string]: unknown }
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

/** Returns a path as in the description, with the plain name of each parameter. */
const described = (path: string) => path.replace(/\{(\w+)[^}\w][^}]*\}/g, '{$1}')

t.test('the description is valid Swagger 2.0 and equals the reviewed one', async (t) => {
  const { ask } = await startGateway(t)
  const { status, json } = await ask({ path: '/swagger.v1.json' })
  t.equal(status, 200)
  await t.resolves(SwaggerParser.validate(plain(json)))
  t.match(json, { swagger: '2.0', basePath: '/api/v1', info: { title: 'Gitea API' } })
  isExpected(t, json, 'api/swagger')
  t.notMatch(JSON.stringify(json), /"(?:anyOf|oneOf|allOf|const|~kind|\$id)"|[:,[]null\b/)
})

t.test('the address in every error leads to the description', async (t) => {
  const { ask } = await startGateway(t)
  const refused = await ask({ path: '/api/v1/user' })
  const { url } = refused.json as { url: string }
  t.match(url, /\/api\/swagger$/)
  const { status, headers } = await ask({ path: new URL(url).pathname })
  t.equal(status, 302)
  t.match(headers['location'], /\/swagger\.v1\.json$/)
})

t.test("the description lists exactly the served operations under Gitea's ids", async (t) => {
  const { paths } = describeApi(OPERATIONS, '') as { paths: Paths }
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
  )
  const served = OPERATIONS.map(
    ({ id, method, path }) => `${id} ${method.toLowerCase()} ${described(path)}`,
  )
  t.strictSame(listed.sort(), served.sort())
  isExpected(t, served, 'api/operations')
})

t.test('each path parameter is described, and the sub-path is part of the base path', async (t) => {
  const { paths, basePath } = describeApi(OPERATIONS, '/git') as { paths: Paths; basePath: string }
  t.equal(basePath, '/git/api/v1')
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId, parameters }) => {
      const named = parameters.filter((parameter) => parameter.in === 'path')
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      return { operationId, named: named.map(({ name }) => name).sort(), wanted: wanted.sort() }
    }),
  )
  t.strictSame(
    rows.map(({ operationId, named }) => [operationId, named]),
    rows.map(({ operationId, wanted }) => [operationId, wanted]),
  )
})

/** Returns a schema that refuses missing and additional fields. */
function strict(schema: Json): Json {
  // Recursive objects, such as the parent of a fork, are checked where they are served directly.
  if ('$ref' in schema) return { type: 'object' }
  const { 'x-nullable': isNullable, ...rest } = schema
  const plain = strictFields(rest)
  return isNullable === true ? { anyOf: [plain, { type: 'null' }] } : plain
}

function strictFields(schema: Json): Json {
  const { properties, items, ...rest } = schema as {
    properties?: Record<string, Json>
    items?: Json
  }
  if (items !== undefined) return { ...rest, items: strict(items) }
  if (properties === undefined) return rest
  const entries = Object.entries(properties)
  const always = entries.filter(([, value]) => value['x-omitempty'] !== true)
  return {
    ...rest,
    properties: Object.fromEntries(entries.map(([name, value]) => [name, strict(value)])),
    required: always.map(([name]) => name),
    additionalProperties: false,
  }
}

/** Returns the differences between a response and its description. */
function faultsOf(
  answer: Answer | undefined,
  responses: Described['responses'] = {},
): readonly unknown[] {
  const response = responses[String(answer?.status)]
  if (answer === undefined || response === undefined) {
    return [`it answers ${answer?.status}, which is not described`]
  }
  if (response.schema === undefined) return answer.text === '' ? [] : [answer.text]
  if (response.schema['type'] === 'file') return answer.bytes.length > 0 ? [] : ['no bytes']
  const [, errors] = Compile(strict(plain(response.schema))).Errors(answer.json)
  return errors
}

function totalOf(answer: Answer | undefined): string {
  return String(answer?.headers['x-total-count'])
}

t.test('each response matches the description, field by field', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { json } = await gateway.ask({ path: '/swagger.v1.json' })
  const whole = (await SwaggerParser.dereference(plain(json), {
    dereference: { circular: 'ignore' },
  })) as unknown as { paths: Paths }
  const wrongEntries: unknown[] = []
  const answers = await successes(withEntriesChecked(gateway, wrongEntries))
  t.strictSame(wrongEntries, [], 'each audited change adds one entry, and nothing else does')
  const faults = OPERATIONS.map(({ id, method, path }) => {
    const { responses } = whole.paths[described(path)]?.[method.toLowerCase()] ?? {}
    return [id, faultsOf(answers[id], responses)]
  })
  t.strictSame(
    faults,
    OPERATIONS.map(({ id }) => [id, []]),
  )
  const lists = OPERATIONS.filter(({ query }) => 'page' in query.properties)
  const uncounted = lists.filter(({ id }) => !/^\d+$/.test(totalOf(answers[id])))
  t.strictSame(
    uncounted.map(({ id }) => id),
    [],
    'each list with pages has X-Total-Count',
  )
  const reads = OPERATIONS.filter(({ id, method, success }) => {
    const isJson = answers[id]?.headers['content-type']?.startsWith('application/json')
    return method === 'GET' && isJson && success.status === 200
  })
  const untagged = reads.filter(({ id }) => answers[id]?.headers.etag === undefined)
  t.strictSame(
    untagged.map(({ id }) => id),
    [],
    'each JSON reply to a read has an ETag',
  )
  const refused = await gateway.as('ada', 'GET', '/repos/ada/absent')
  const notFound = whole.paths['/repos/{owner}/{repo}']?.['get']?.responses['404']?.schema ?? {}
  t.ok(Compile(strict(plain(notFound))).Check(refused.json), 'a refusal too')
})

const TABLE = createRouteTable(OPERATIONS.map(routeOf))

/**
 * Returns a gateway that checks the audit log after each request over the API, and adds to
 * `faults`: a change of an audited route adds one complete entry, and no other request an entry.
 */
function withEntriesChecked(gateway: GatewayWithUsers, faults: unknown[]): GatewayWithUsers {
  const last = async () => await gateway.db('audit_entries').orderBy('id', 'desc').first()
  return {
    ...gateway,
    async as(name, method, path, body) {
      const before = await last()
      const answer = await gateway.as(name, method, path, body)
      const [plainPath = '', query = ''] = path.split('?')
      const found = TABLE.find(method, `/api/v1${plainPath}`, query)
      const action = found !== undefined && 'route' in found && auditedAction(found.route)
      const isChange = typeof action === 'string' && answer.status < 300
      const after = await last()
      const added = (after?.id ?? 0) - (before?.id ?? 0)
      const isComplete = typeof after?.completed_at === 'number'
      const isRight = after?.action === action && after?.actor_name === name && isComplete
      if (added !== (isChange ? 1 : 0) || (isChange && !isRight)) {
        faults.push({ method, path, action, added, entry: after })
      }
      return answer
    },
  }
}
