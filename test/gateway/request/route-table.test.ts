/** Route table: path segments give one route, the permitted methods, or nothing. */

import t from 'tap'
import { API_SURFACE } from '../../../gateway/api/surface.js'
import type { AnyRoute, Route } from '../../../gateway/request/route.js'
import {
  createRouteTable,
  type Found,
  isRest,
  plainPath,
} from '../../../gateway/request/route-table.js'

function aRoute(method: Route['method'], path: string, query?: string): AnyRoute {
  return {
    surface: path.startsWith('/api/') ? API_SURFACE : { ...API_SURFACE, name: 'git' },
    method,
    path,
    access: { kind: 'open' },
    scopes: [],
    ...(query === undefined ? {} : { query }),
    handle: async () => ({ status: 200 }),
  }
}

const TABLE = createRouteTable([
  aRoute('GET', '/api/v1/user'),
  aRoute('GET', '/api/v1/users/{username}'),
  aRoute('GET', '/api/v1/repos/{owner}/{repo}'),
  aRoute('PATCH', '/api/v1/repos/{owner}/{repo}'),
  aRoute('DELETE', '/api/v1/repos/{owner}/{repo}'),
  aRoute('GET', '/{owner}/{repo}/info/refs', 'service=git-upload-pack'),
  aRoute('GET', '/{owner}/{repo}/info/refs'),
  aRoute('POST', '/{owner}/{repo}/git-upload-pack'),
])

/** Returns `GET /path segment=value…`, or the permitted methods, or undefined. */
function find(method: string, path: string, query = ''): string | undefined {
  const first = TABLE.find(method, path, query)
  const found: Found | undefined = TABLE.find(method, path, query)
  t.strictSame(found, first, 'the last result is returned again')
  if (found === undefined) return undefined
  if (!('route' in found)) return `allow ${found.allow.join(', ')}`
  const { route, segments } = found
  const named = Object.entries(segments).map(([name, value]) => ` ${name}=${value}`)
  return `${route.method} ${route.path}${route.query ? `?${route.query}` : ''}${named.join('')}`
}

t.test('a path finds its route with unchanged segments', async (t) => {
  t.equal(find('GET', '/api/v1/user'), 'GET /api/v1/user')
  const repo = '/api/v1/repos/{owner}/{repo}'
  t.equal(find('GET', '/api/v1/repos/a/b'), `GET ${repo} owner=a repo=b`)
  t.equal(find('DELETE', '/api/v1/repos/a/b', 'x=y'), `DELETE ${repo} owner=a repo=b`)
  t.equal(find('GET', '/api/v1/repos/a%2Fb/..'), `GET ${repo} owner=a%2Fb repo=..`)
  t.equal(
    find('GET', '/api/v1/repos/__proto__/constructor'),
    `GET ${repo} owner=__proto__ repo=constructor`,
  )
})

t.test('HEAD is answered by the route of GET', async (t) => {
  t.equal(find('HEAD', '/api/v1/user'), 'GET /api/v1/user')
  t.equal(find('HEAD', '/a/b/git-upload-pack'), 'allow POST')
})

t.test('a route with a query takes precedence over one without', async (t) => {
  const path = '/{owner}/{repo}/info/refs'
  const named = 'owner=a repo=b.git'
  const service = 'service=git-upload-pack'
  t.equal(find('GET', '/a/b.git/info/refs', service), `GET ${path}?${service} ${named}`)
  t.equal(find('HEAD', '/a/b.git/info/refs', service), `GET ${path}?${service} ${named}`)
  for (const query of ['', 'service=git-upload-archive', `${service}&x=1`, `x=1&${service}`]) {
    t.equal(find('GET', '/a/b.git/info/refs', query), `GET ${path} ${named}`, query)
  }
})

t.test('a path has no route for other queries and methods if its only route has a query', (t) => {
  const path = '/{owner}/{repo}/{folder...}'
  const table = createRouteTable([aRoute('GET', path, 'go-get=1'), aRoute('POST', '/{owner}/x')])
  t.match(table.find('GET', '/a/b/c/d', 'go-get=1'), { route: { path } })
  for (const query of ['', 'go-get=2', 'go-get=1&x']) {
    t.equal(table.find('GET', '/a/b/c/d', query), undefined, query)
  }
  t.equal(table.find('PUT', '/a/b/c', 'go-get=1'), undefined)
  t.match(table.find('GET', '/a/x', ''), { allow: ['POST'] })
  t.end()
})

t.test('a wrong method gives the permitted ones', async (t) => {
  t.equal(find('PUT', '/api/v1/repos/a/b'), 'allow GET, PATCH, DELETE, HEAD')
  t.equal(find('OPTIONS', '/a/b/info/refs'), 'allow GET, HEAD')
  t.equal(find('BREW', '/api/v1/user'), 'allow GET, HEAD')
})

t.test('a slash at the end of a path is ignored in the API only', async (t) => {
  t.equal(find('GET', '/api/v1/user/'), find('GET', '/api/v1/user'))
  t.equal(find('GET', '/api/v1/repos/a/b/'), find('GET', '/api/v1/repos/a/b'))
  t.equal(find('GET', '/api/v1/user//'), find('GET', '/api/v1/user'))
})

t.test('a path without a route gives nothing', async (t) => {
  for (const path of [
    '',
    '/',
    '//',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/API/v1/user',
    '/api/v1/users',
    '/api/v1/users/',
    '/api/v1/repos//b',
    '/api/v1/repos/a/',
    'api/v1/user',
    '/api/v1/repos/a/b/c',
    '/a/b/info',
    '/a/b/info/refs/',
    '/a/../info/refs/',

    '/a//info/refs',
  ]) {
    t.equal(find('GET', path), undefined, path)
  }
})

const RESTS = createRouteTable([
  aRoute('GET', '/{owner}/go/{rest...}'),
  aRoute('PUT', '/{owner}/go/upload'),
  aRoute('GET', '/{owner}/go/{name}/info'),
  aRoute('POST', '/{owner}/go/{name}/{rest...}'),
  aRoute('GET', '/{owner}/files/{rest...}'),
  aRoute('DELETE', '/{owner}/files/{rest...}'),
])

/** Returns `GET /path segment=value…`, or the permitted methods, or undefined. */
function findRest(method: string, path: string): string | undefined {
  const found = RESTS.find(method, path, '')
  if (found === undefined) return undefined
  if (!('route' in found)) return `allow ${found.allow.join(', ')}`
  const named = Object.entries(found.segments).map(([name, value]) => ` ${name}=${value}`)
  return `${found.route.method} ${found.route.path}${named.join('')}`
}

t.test('the rest of a path is one unchanged parameter', async (t) => {
  const rest = (path: string) => findRest('GET', `/a/files/${path}`)
  const route = 'GET /{owner}/files/{rest...} owner=a rest...='
  for (const path of [
    'x',
    'x/y',
    'x/y/@v/v1.0.0.zip',
    'x%2Fy/%2e%2e/%',
    '../..',
    'files/files',
    '__proto__',
    'x/',
    'x//y',
    '/x',
    '//',
    '',
  ]) {
    t.equal(rest(path), `${route}${path}`, path)
  }
  t.equal(findRest('HEAD', '/a/files/x/y'), `${route}x/y`)
  t.equal(findRest('PUT', '/a/files/x/y'), 'allow GET, DELETE, HEAD')
  t.equal(findRest('GET', '/a/files'), undefined, 'a rest has at least one segment')
  t.equal(findRest('GET', '//files/x'), undefined)
})

t.test('a rest parameter matches only if no more specific route does', async (t) => {
  const rest = '/{owner}/go/{rest...} owner=a rest...='
  t.equal(findRest('PUT', '/a/go/upload'), 'PUT /{owner}/go/upload owner=a')
  t.equal(findRest('PUT', '/a/go/uploads'), 'allow GET, HEAD')
  t.equal(findRest('GET', '/a/go/mod/info'), 'GET /{owner}/go/{name}/info owner=a name=mod')
  t.equal(findRest('GET', '/a/go/mod'), `GET ${rest}mod`)
  const within = 'POST /{owner}/go/{name}/{rest...} owner=a name=mod rest...='
  t.equal(findRest('POST', '/a/go/mod/x/info'), `${within}x/info`)
  t.equal(findRest('POST', '/a/go/mod/info/x'), `${within}info/x`)
})

t.test('two parameters share a segment that ends in one of the given words', async (t) => {
  const paths = ['/{r}/{sha}', '/{r}/{sha}.{type:diff|patch}', '/{r}/{sha}.{type:diff|patch}/x']
  const table = createRouteTable(paths.map((path) => aRoute('GET', path)))
  const found = (path: string) => {
    const { route, segments } = table.find('GET', path, '') as Extract<Found, { route: AnyRoute }>
    return [paths.indexOf(route.path), segments]
  }
  t.strictSame(found('/r/main'), [0, { r: 'r', sha: 'main' }])
  t.strictSame(found('/r/v1.2'), [0, { r: 'r', sha: 'v1.2' }])
  t.strictSame(found('/r/.diff'), [0, { r: 'r', sha: '.diff' }])
  t.strictSame(found('/r/a%2Fb.c.diff'), [1, { r: 'r', sha: 'a%2Fb.c', type: 'diff' }])
  t.strictSame(found('/r/x.patch'), [1, { r: 'r', sha: 'x', type: 'patch' }])
  t.strictSame(found('/r/x.patch/x'), [2, { r: 'r', sha: 'x', type: 'patch' }])
  const twice = [1, 2].map(() => aRoute('GET', '/{a}.{b:x|y}'))
  t.throws(() => createRouteTable(twice), { message: /two routes/ })
  t.equal(plainPath('/a/{b}/{c}.{d:x|y}/{e...}'), '/a/{b}/{c}.{d}/{e}')
})

t.test('a rest parameter is recognized by its name', async (t) => {
  t.equal(isRest('rest...'), true)
  for (const name of ['rest', '...rest', 'rest..', '']) t.equal(isRest(name), false, name)
})

t.test('two routes for one path stop the start', async (t) => {
  const twice = [aRoute('GET', '/x/{a}'), aRoute('GET', '/x/{b}')]
  t.throws(() => createRouteTable(twice), { message: 'two routes for GET /x/{b}' })
  t.doesNotThrow(() => createRouteTable([aRoute('GET', '/x/{a}'), aRoute('GET', '/x/{b}', 'q')]))
})

t.test('a route without access or scopes does not compile', async (t) => {
  const handle = async () => ({ status: 200 })
  const base = { surface: API_SURFACE, method: 'GET', path: '/x', handle } as const
  // @ts-expect-error: a route without access does not compile.
  const withoutAccess: Route<'open'> = { ...base, scopes: [] }
  // @ts-expect-error: a route without scopes does not compile.
  const withoutScopes: Route<'open'> = { ...base, access: { kind: 'open' } }
  t.notOk('access' in withoutAccess || 'scopes' in withoutScopes)
})
