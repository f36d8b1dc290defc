/** The client that is generated from Gitea's API description, used instead of plain requests. */

import { giteaApi } from 'gitea-js'
import { OPERATIONS } from '../../gateway/api/operations.js'
import { API_PREFIX } from '../../gateway/objects/api-prefix.js'
import { createRouteTable } from '../../gateway/request/route-table.js'
import type { GatewayWithUsers } from './gateway-with-users.js'
import type { Answer } from './requests.js'

/** Method of the client; its arguments are path parameters, body and query. */
type Method = (...args: readonly unknown[]) => Promise<ClientAnswer>

interface ClientAnswer extends Response {
  readonly data: unknown
  readonly error: unknown
}

export interface ClientGateway {
  /** The same gateway, whose API requests use the client if it has a method. */
  readonly gateway: GatewayWithUsers
  /** Ids of the operations that were called through the client. */
  readonly called: ReadonlySet<string>
}

/** Returns operations without a method of the client: new ones, and undocumented ones of Gitea. */
export function operationsUnknownToClient(): readonly string[] {
  const { methodOf } = openClient(0, undefined)
  return OPERATIONS.filter((operation) => methodOf(operation) === undefined).map(({ id }) => id)
}

/** Returns the gateway with API requests that go through the client. */
export function throughGiteaClient(gateway: GatewayWithUsers): ClientGateway {
  const called = new Set<string>()
  const as: GatewayWithUsers['as'] = async (name, method, path, body) => {
    const token = gateway.authorizationOf(name)?.replace('token ', '')
    const found = findOperation(method, path)
    const send = found && openClient(gateway.port, token).methodOf(found)
    if (found === undefined || send === undefined) return gateway.as(name, method, path, body)
    called.add(found.id)
    return answerOf(await callWith(send, { ...found, body }))
  }
  return { gateway: { ...gateway, as }, called }
}

interface FoundOperation {
  readonly id: string
  readonly path: string
  /** Path parameters, as sent. */
  readonly segments: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

const table = createRouteTable(
  OPERATIONS.map(({ method, path, access, id }) => ({
    method,
    path: API_PREFIX + path,
    scopes: [],
    surface: { name: id as 'api' },
    access,
    handle: () => ({ status: 200 }),
  })) as unknown as Parameters<typeof createRouteTable>[0],
)

function findOperation(method: string, pathAndQuery: string): FoundOperation | undefined {
  const { pathname, searchParams } = new URL(API_PREFIX + pathAndQuery, 'http://localhost')
  const found = table.find(method, pathname, '')
  if (found === undefined || !('route' in found)) return undefined
  return {
    id: found.route.surface.name,
    path: found.route.path.slice(API_PREFIX.length),
    segments: Object.values(found.segments),
    query: Object.fromEntries(searchParams),
  }
}

/** Returns the client's name of an operation, whose first letter is lower case. */
function methodName(id: string): string {
  return id.slice(0, 1).toLowerCase() + id.slice(1).replace('GPG', 'Gpg')
}

/** Operations whose body is not in Gitea's description, so that the method takes none. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['userVerifyGPGKey'])

function openClient(port: number, token: string | undefined) {
  const client = giteaApi(`http://127.0.0.1:${port}`, {
    ...(token === undefined ? {} : { token }),
    customFetch: (...args) => fetch(...args),
  })
  const groups = Object.values(client).filter(
    (group) => typeof group === 'object' && group !== null,
  )
  const methods = new Map(groups.flatMap((group) => Object.entries(group as Methods)))
  return {
    /** Returns the method of an operation, if its path is the same; some ids changed their path. */
    methodOf({ id, path }: { readonly id: string; readonly path: string }): Method | undefined {
      if (WITHOUT_BODY.has(id)) return undefined
      const method = methods.get(methodName(id))
      const blank = (text: string) => text.replace(/\$?\{[^}]*\}/g, '{}')
      return method !== undefined && blank(templateOf(method)) === blank(path) ? method : undefined
    },
  }
}

type Methods = Readonly<Record<string, Method>>

/** Returns the path template of a method, such as `/repos/${owner}/${repo}`, from its source. */
function templateOf(method: Method): string {
  return /path: `([^`]*)`/.exec(method.toString())?.[1] ?? ''
}

/** Calls a method with arguments that match the parameter names of its source. */
async function callWith(
  send: Method,
  call: FoundOperation & { readonly body: unknown },
): Promise<ClientAnswer> {
  const names = /^\(([^)]*)\)/.exec(send.toString())?.[1]?.split(',') ?? []
  const segments = [...call.segments]
  const args = names.map((text) => {
    const name = text.trim().replace(/ = .*$/, '')
    if (templateOf(send).includes(`{${name}}`)) return segments.shift()
    // In two methods, the generated code does not set the content type of the body.
    if (name === 'params') return call.body === undefined ? {} : { type: 'application/json' }
    return name === 'query' ? call.query : call.body
  })
  // The client throws error replies; they are replies for the tests.
  return await send(...args).catch((thrown: unknown) => {
    if (thrown instanceof Response) return thrown as ClientAnswer
    throw thrown
  })
}

function answerOf({ status, headers, data, error }: ClientAnswer): Answer {
  const json = data ?? error ?? undefined
  const text = json === undefined ? '' : JSON.stringify(json)
  return { status, headers: Object.fromEntries(headers), json, text, bytes: Buffer.from(text) }
}
