/** The client that is generated from Gitea's own description, called in place of plain requests. */

import { giteaApi } from 'gitea-js'
import { OPERATIONS } from '../../gateway/api/operations.js'
import { API_PREFIX } from '../../gateway/objects/api-prefix.js'
import { createRouteTable } from '../../gateway/request/route-table.js'
import type { GatewayWithUsers } from './gateway-with-users.js'
import type { Answer } from './requests.js'

/** A method of the client: what the path names, then a body, then a query. */
type Method = (...args: readonly unknown[]) => Promise<ClientAnswer>

interface ClientAnswer extends Response {
  readonly data: unknown
  readonly error: unknown
}

export interface ClientGateway {
  /** The same town, whose people ask through the client wherever it has a method. */
  readonly gateway: GatewayWithUsers
  /** The operations that were called so. */
  readonly called: ReadonlySet<string>
}

/** The operations for which the client has no method: later ones, and Gitea's undocumented ones. */
export function operationsUnknownToClient(): readonly string[] {
  const { methodOf } = openClient(0, undefined)
  return OPERATIONS.filter((operation) => methodOf(operation) === undefined).map(({ id }) => id)
}

/** Lets the people of a town ask through the client. */
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
  /** What the path names, as sent. */
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

/** The generators lower the first letter. */
function methodName(id: string): string {
  return id.slice(0, 1).toLowerCase() + id.slice(1)
}

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
    /** An id may be of another path there, as some changed their meaning. */
    methodOf({ id, path }: { readonly id: string; readonly path: string }): Method | undefined {
      const method = methods.get(methodName(id))
      const blank = (text: string) => text.replace(/\$?\{[^}]*\}/g, '{}')
      return method !== undefined && blank(templateOf(method)) === blank(path) ? method : undefined
    },
  }
}

type Methods = Readonly<Record<string, Method>>

/** `/repos/${owner}/${repo}`, from the method's own text. */
function templateOf(method: Method): string {
  return /path: `([^`]*)`/.exec(method.toString())?.[1] ?? ''
}

/** The generated code names its parameters, so each gets its own. */
async function callWith(
  send: Method,
  call: FoundOperation & { readonly body: unknown },
): Promise<ClientAnswer> {
  const names = /^\(([^)]*)\)/.exec(send.toString())?.[1]?.split(',') ?? []
  const segments = [...call.segments]
  const args = names.map((text) => {
    const name = text.trim().replace(/ = .*$/, '')
    if (templateOf(send).includes(`{${name}}`)) return segments.shift()
    // In two of its methods the generated code does not say that the body is JSON.
    if (name === 'params') return call.body === undefined ? {} : { type: 'application/json' }
    return name === 'query' ? call.query : call.body
  })
  // A refusal is thrown, and is an answer all the same.
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
