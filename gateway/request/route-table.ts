/** Table of routes, which finds the route of a request by method, path and query. */

import type { AnyRoute, Surface } from './route.js'

export interface RouteTable {
  /**
   * Returns the route, or the allowed methods if only routes for others have that path, or
   * undefined if no route has it. `path` is still percent-encoded.
   */
  find(method: string, path: string, query: string): Found | undefined
}

export type Found =
  | { readonly route: AnyRoute; readonly segments: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[]; readonly surface: Surface }

/** Returns the surface of a path; undefined if no route has it. */
export function surfaceOf(found: Found | undefined): Surface | undefined {
  if (found === undefined) return undefined
  return 'route' in found ? found.route.surface : found.surface
}

interface Node {
  readonly literals: Map<string, Node>
  readonly routes: Map<string, AnyRoute>
  /** Children by the ending of a segment, for patterns such as `{sha}.{type:diff|patch}`. */
  endings: Map<string, Node> | undefined
  param: Node | undefined
  /** Child of a last parameter, which matches all further segments. */
  rest: Node | undefined
}

/**
 * Creates a table of the routes. Segments are compared as sent, so an encoded slash stays inside
 * its parameter, and a dot segment is an ordinary name that never means the parent. Throws if two
 * routes have the same method, path and query.
 */
export function createRouteTable(routes: readonly AnyRoute[]): RouteTable {
  const root = createNode()
  const parameters = new Map(routes.map((route) => [route, parametersOf(route.path)]))
  /** Nodes of the paths without parameters; no other route matches such a path better. */
  const exact = new Map<string, Node>()
  for (const route of routes) {
    let node = root
    for (const segment of route.path.split('/').slice(1)) node = descend(node, segment)
    const key = keyOf(route.method, route.query)
    if (node.routes.has(key)) throw new Error(`two routes for ${key} ${route.path}`)
    node.routes.set(key, route)
    if (!route.path.includes('{')) exact.set(route.path, node)
  }
  const find: RouteTable['find'] = (method, path, query) => {
    const known = exact.get(path)
    const segments = known === undefined ? path.split('/').slice(1) : []
    const node = known ?? follow(root, segments)
    // In the API, a slash at the end is ignored, as in Gitea.
    if (node === undefined) {
      const found = path.endsWith('/') ? find(method, path.slice(0, -1), query) : undefined
      return surfaceOf(found)?.name === 'api' ? found : undefined
    }
    const verb = method === 'HEAD' ? 'GET' : method
    const route = node.routes.get(keyOf(verb, query)) ?? node.routes.get(keyOf(verb, undefined))
    if (route !== undefined) {
      return { route, segments: namedSegments(parameters.get(route) ?? [], segments) }
    }
    const [first] = plainRoutes(node)
    return first === undefined ? undefined : { allow: allowed(node), surface: first.surface }
  }
  /** Recent results, because many clients request the same few addresses. */
  const last = new Map<string, Found>()
  return {
    find(method, path, query) {
      const address = `${method} ${path}?${query}`
      const known = last.get(address)
      if (known !== undefined) return known
      const found = find(method, path, query)
      if (found === undefined || address.length > KNOWN_ADDRESS_LENGTH_MAX) return found
      if (last.size >= KNOWN_ADDRESSES_MAX) last.clear()
      last.set(address, found)
      return found
    },
  }
}

const KNOWN_ADDRESSES_MAX = 1_000

const KNOWN_ADDRESS_LENGTH_MAX = 200

/** End of the path of a route whose last parameter matches all further segments. */
export const REST_SUFFIX = '...}'

function keyOf(method: string, query: string | undefined): string {
  return query === undefined || query === '' ? method : `${method} ?${query}`
}

function createNode(): Node {
  return {
    literals: new Map(),
    routes: new Map(),
    endings: undefined,
    param: undefined,
    rest: undefined,
  }
}

function descend(node: Node, segment: string): Node {
  if (segment.endsWith(REST_SUFFIX)) {
    node.rest ??= createNode()
    return node.rest
  }
  const endings = ENDINGS.exec(segment)
  if (endings !== null) {
    const words = (endings[3] ?? '').split('|')
    const next = node.endings?.get(words[0] ?? '') ?? createNode()
    node.endings = new Map([...(node.endings ?? []), ...words.map((word) => [word, next] as const)])
    return next
  }
  if (segment.startsWith('{')) {
    node.param ??= createNode()
    return node.param
  }
  const next = node.literals.get(segment) ?? createNode()
  node.literals.set(segment, next)
  return next
}

function follow(root: Node, segments: readonly string[]): Node | undefined {
  let node: Node | undefined = root
  let rest: Node | undefined
  for (const segment of segments) {
    rest = node.rest ?? rest
    node =
      node.literals.get(segment) ??
      (node.endings && nodeOfEnding(node.endings, segment)) ??
      (segment === '' ? undefined : node.param)
    if (node === undefined) return rest
  }
  return node.routes.size > 0 ? node : rest
}

/** A segment of two parameters, such as `{sha}.{type:diff|patch}`. */
const ENDINGS = /^\{(\w+)\}\.\{(\w+):([\w|]+)\}$/

function nodeOfEnding(endings: ReadonlyMap<string, Node>, segment: string): Node | undefined {
  const dot = segment.lastIndexOf('.')
  return dot <= 0 ? undefined : endings.get(segment.slice(dot + 1))
}

/** Parameters of a path: the index of each one's segment, and the part of the segment it takes. */
type Parameters = ReadonlyArray<
  readonly [name: string, index: number, part: 'whole' | 'stem' | 'ending']
>

function parametersOf(path: string): Parameters {
  const parts = path.split('/').slice(1)
  return parts.flatMap((part, index): Parameters => {
    const [, stem = '', ending = ''] = ENDINGS.exec(part) ?? []
    if (stem !== '') return [[stem, index, 'stem'] as const, [ending, index, 'ending'] as const]
    return part.startsWith('{') ? [[part.slice(1, -1), index, 'whole'] as const] : []
  })
}

function namedSegments(
  parameters: Parameters,
  segments: readonly string[],
): Readonly<Record<string, string>> {
  const named: Record<string, string> = {}
  for (const [name, index, part] of parameters) {
    const segment = segments[index] ?? ''
    const dot = segment.lastIndexOf('.')
    if (part === 'stem') named[name] = segment.slice(0, dot)
    else if (part === 'ending') named[name] = segment.slice(dot + 1)
    else named[name] = isRest(name) ? segments.slice(index).join('/') : segment
  }
  return Object.freeze(named)
}

/** Returns the routes that match any query. */
function plainRoutes(node: Node): readonly AnyRoute[] {
  return [...node.routes.values()].filter(({ query }) => query === undefined)
}

function allowed(node: Node): readonly string[] {
  const methods = [...new Set(plainRoutes(node).map(({ method }) => method))]
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

/** Returns a path with only the names in its braces, as in the description of the API. */
export function plainPath(path: string): string {
  return path.replace(/\{(\w+)(?:\.\.\.|:[\w|]+)\}/g, '{$1}')
}

/** True if the parameter matches all further segments. */
export function isRest(name: string): boolean {
  return name.endsWith('...')
}
