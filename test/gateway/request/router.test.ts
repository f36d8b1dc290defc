/** The router: errors in the surface's own form, unexpected errors, metrics and request logs. */

import t from 'tap'
import type { Request } from '../../../conf/http.js'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { API_SURFACE } from '../../../gateway/api/surface.js'
import { NO_BODY } from '../../../gateway/http/incoming-body.js'
import type { AnyRoute } from '../../../gateway/request/route.js'
import { createRouteTable } from '../../../gateway/request/route-table.js'
import { createRouter } from '../../../gateway/request/router.js'
import { openContext, startGateway } from '../../helpers/gateway.js'
import { refusal, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { NO_WATCH } from '../../helpers/no-watch.js'
import { withToken } from '../../helpers/requests.js'

t.test('HEAD gives the headers of every GET of the API without a body', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const values: Readonly<Record<string, string>> = {
    owner: 'ada',
    repo: 'r',
    username: 'ada',
    type: 'generic',
    name: 'tool',
    version: '1.0',
  }
  // Each read of a registration token gives a new one.
  const reads = OPERATIONS.filter(
    ({ method, path }) => method === 'GET' && !path.endsWith('/registration-token'),
  )
  t.ok(reads.length > 4)
  for (const { path } of reads) {
    const place = path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
    const [read, head] = [await as('ada', 'GET', place), await as('ada', 'HEAD', place)]
    t.equal(head.status, read.status, place)
    t.equal(head.text, '')
    const { date: _a, 'x-request-id': _b, ...ofRead } = read.headers
    const { date: _c, 'x-request-id': _d, ...ofHead } = head.headers
    t.strictSame(ofHead, ofRead, place)
  }
})

t.test('a wrong method is 405 with the permitted ones', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  const wrong = await as('anyone', 'PUT', '/repos/ada/absent')
  t.equal(wrong.status, 405)
  t.equal(wrong.headers.allow, 'GET, PATCH, DELETE, HEAD')
  t.strictSame(wrong.json, refusal('Allowed methods: GET, PATCH, DELETE, HEAD.'))
  t.equal((await as('anyone', 'OPTIONS', '/version')).headers.allow, 'GET, HEAD')
  t.equal((await as('anyone', 'POST', '/version')).status, 405)
})

t.test('an unknown path is 404 in the form of the API', async (t) => {
  const { ask } = await startGateway(t, { environment: { GATEHOUSE_WEB_ENABLED: 'false' } })
  for (const path of ['/', '/api/v1', '/api/v1/nothing', '/a', '/a/b', '/a/b/c', '/..', '/%']) {
    const answer = await ask({ path })
    t.equal(answer.status, 404, path)
    t.strictSame(answer.json, refusal('not found'))
  }
  t.equal((await ask({ path: '/api/v1/users/%' })).status, 400, 'a known path that is malformed')
})

t.test('a doubled slash at the start of the path is reduced to one', async (t) => {
  const { ask } = await startGateway(t)
  t.equal((await ask({ path: '//api/v1/version' })).status, 200)
  t.equal((await ask({ path: '///api/v1/version' })).status, 404)
  t.equal((await ask({ path: '/api//v1/version' })).status, 404)
})

t.test('routes are found with and without the configured sub-path', async (t) => {
  const base = 'https://example.com/git'
  const environment = { GATEHOUSE_HTTP_BASE_URL: `${base}/` }
  const { ask, addUser, addToken } = await startGateway(t, { environment })
  for (const path of ['/git/api/v1/version', '/api/v1/version', '/git//api/v1/version']) {
    t.equal((await ask({ path })).status, 200, path)
  }
  for (const path of ['/gitapi/v1/version', '/GIT/api/v1/version', '/git', '/git/git/livez']) {
    t.equal((await ask({ path })).status, 404, path)
  }
  const authorization = withToken((await addToken(await addUser('ada'), 'all')).plain)
  const asAda = { authorization, headers: { host: 'elsewhere' } }
  const path = '/git/api/v1/user/repos'
  const made = await ask({ ...asAda, method: 'POST', path, body: { name: 'r' } })
  t.match(made.json, { clone_url: `${base}/ada/r.git`, url: `${base}/api/v1/repos/ada/r` })
  await ask({ ...asAda, method: 'PATCH', path: '/git/api/v1/repos/ada/r', body: { name: 's' } })
  const moved = await ask({ ...asAda, path: '/git/api/v1/repos/ada/r' })
  t.equal(moved.headers.location, `${base}/api/v1/repos/ada/s`)
  t.match((await ask({ path: '/git/api/nothing' })).json, { url: `${base}/api/swagger` })
})

const aRequest = (fields: Partial<Request> = {}): Request => ({
  id: '7',
  method: 'GET',
  path: '/x',
  query: 'secret=1',
  headers: new Map(),
  body: NO_BODY,
  address: '192.0.2.1',
  scheme: 'http',
  signal: new AbortController().signal,
  ...fields,
})

t.test('an unexpected error is a 500 without detail and is logged once', async (t) => {
  const { context, fixture } = await openContext(t)
  const route: AnyRoute = {
    surface: API_SURFACE,
    method: 'GET',
    path: '/x',
    access: { kind: 'open' },
    scopes: [],
    handle: async () => {
      throw new TypeError('select * from passwords')
    },
  }
  const table = createRouteTable([route])
  const answer = createRouter({
    context,
    table,
    surfaceOfUnknown: () => API_SURFACE,
    forward: undefined,
    watch: NO_WATCH,
  })
  const reply = await answer(aRequest())
  t.equal(reply.status, 500)
  t.strictSame(JSON.parse(String(reply.body)), refusal('internal server error'))
  const errors = fixture.lines.filter(({ level }) => level === 50)
  t.match(errors, [{ requestId: '7', path: '/x', error: { message: 'select * from passwords' } }])
  t.equal(errors.length, 1)
  t.notMatch(JSON.stringify(fixture.lines), 'secret', 'the query is never logged')
  const gone = new AbortController()
  gone.abort()
  await answer(aRequest({ signal: gone.signal }))
  t.equal(
    fixture.lines.filter(({ level }) => level === 50).length,
    1,
    'not if the client disconnected',
  )
})

t.test('requests without a route, and only those, are forwarded to the upstream', async (t) => {
  const { context } = await openContext(t)
  const seen: string[] = []
  const answer = createRouter({
    context,
    table: createRouteTable([]),
    surfaceOfUnknown: () => API_SURFACE,
    watch: NO_WATCH,
    forward: async ({ path }) => {
      seen.push(path)
      return { status: 299 }
    },
  })
  t.equal((await answer(aRequest({ path: '//page' }))).status, 299)
  t.strictSame(seen, ['//page'], 'unchanged')
})

t.test('each request is counted, and logged unless it is a plain read', async (t) => {
  const { ask, lines, server } = await startGateway(t)
  await ask({ path: '/api/v1/version' })
  await ask({ path: '/api/v1/user' })
  const requests = lines.filter(({ msg }) => msg === 'request')
  t.match(requests, [
    { level: 20, method: 'GET', path: '/api/v1/version', status: 200, address: '127.0.0.1' },
    { level: 30, method: 'GET', path: '/api/v1/user', status: 401 },
  ])
  t.match(requests[0]?.['requestId'], /^\w+-\w+$/)
  const text = await server.metrics.registry.metrics()
  t.match(text, /gatehouse_http_request_seconds_count\{.*status="401".*\} 1\n/)
})
