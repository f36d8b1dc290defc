/** The assembled server: surfaces of routes, start and stop. */

import t from 'tap'
import { findGit } from '../../cgi/process/git.js'
import { OPERATIONS } from '../../gateway/api/operations.js'
import { createLocalThrottle } from '../../gateway/auth/throttle.js'
import { allRoutes, startServer } from '../../gateway/server.js'
import { KEY_SCRIPT, STYLESHEET } from '../../gateway/web/asset-files.js'
import { startGateway } from '../helpers/gateway.js'

const ON = { isEnabled: true }
const ALL = { actions: ON, lfs: ON, packages: ON, web: ON }

const api = (path: string) => `GET /api/v1/${path}`

t.test(
  'only probes and the description are open, and few routes permit anonymous clients',
  async (t) => {
    const routes = allRoutes(ALL)
    const placesOf = (kind: string) =>
      routes
        .filter(({ access }) => access.kind === kind)
        .map(({ method, path }) => `${method} ${path}`)
        .sort()
    t.strictSame(placesOf('open'), [
      'GET /.well-known/nodeinfo',
      'GET /.well-known/openid-configuration',
      'GET /api/healthz',
      'GET /api/swagger',
      'GET /api/v1/swagger',
      ...[KEY_SCRIPT, STYLESHEET].map(({ path }) => `GET ${path}`),
      'GET /avatars/{hash}',
      'GET /livez',
      'GET /login/oauth/keys',
      'GET /metrics',
      'GET /readyz',
      'GET /repo-avatars/{hash}',
      'GET /sendfilez',
      'GET /swagger.v1.json',
      // The go command sends no credentials here, so the reply depends on the address alone.
      ...['', '/{folder...}'].map((rest) => `GET /{owner}/{repo}${rest}`),
      // Runners ping before they register, with a token in the message.
      'POST /api/actions/ping.v1.PingService/Ping',
      'POST /api/actions/runner.v1.RunnerService/Register',
      'POST /api/actions/{procedure...}',
      // Applications authenticate themselves here, without an account.
      ...['access_token', 'introspect', 'revoke'].map((name) => `POST /login/oauth/${name}`),
    ])
    // Every caller of these lists gets the entries that they may see.
    t.strictSame(placesOf('anyone'), [
      'GET /',
      ...['gitignore/templates', 'label/templates', 'licenses']
        .flatMap((path) => [path, `${path}/{name}`])
        .map(api),
      ...['nodeinfo', 'orgs'].map(api),
      ...['repos/issues/search', 'repos/search', 'settings/api', 'settings/attachment'].map(api),
      ...['settings/repository', 'settings/ui', 'topics/search'].map(api),
      ...['users/search', 'users/{username}', 'users/{username}/activities/feeds'].map(api),
      api('users/{username}/followers'),
      ...['users/{username}/following', 'users/{username}/following/{target}'].map(api),
      ...['users/{username}/heatmap', 'users/{username}/repos'].map(api),
      ...['users/{username}/starred', 'users/{username}/subscriptions', 'version'].map(api),
      'GET /login/oauth/authorize',
      'GET /setup',
      'GET /user/login',
      'GET /user/sign_up',
      'GET /user/two-factor',
      'GET /{owner}',
      'GET /{owner}.{kind:gpg|keys}',
      'GET /{owner}/{repo}/info/refs',
      'POST /setup',
      'POST /user/login',
      'POST /user/logout',
      'POST /user/sign_up',
      'POST /user/two-factor',
      'POST /user/two-factor/key',
    ])
    t.ok(routes.length > OPERATIONS.length)
  },
)

t.test('disabled registries have neither routes nor operations', async (t) => {
  const countOf = (isEnabled: boolean) =>
    allRoutes({ ...ALL, packages: { isEnabled } }).filter(
      ({ access, path }) => access.kind === 'packages' || path.includes('/packages/'),
    ).length
  t.equal(countOf(false), 0)
  t.ok(countOf(true) > OPERATIONS.filter(({ access }) => access.kind === 'packages').length)
})

t.test('disabled workflows have neither operations, pages nor the routes of runners', async (t) => {
  const ofActions = (isEnabled: boolean) =>
    allRoutes({ ...ALL, actions: { isEnabled } })
      .filter(({ path }) => /\/actions(?:\/|$)|runners|actions_pipeline|^\/twirp\//.test(path))
      .map(({ method, path }) => `${method} ${path}`)
  t.strictSame(ofActions(false), [])
  t.ok(ofActions(true).includes('GET /api/v1/repos/{owner}/{repo}/actions/runs'))
  t.ok(ofActions(true).some((place) => place.startsWith('POST /twirp/')))
  t.ok(ofActions(true).includes('GET /{owner}/{repo}/actions'))
})

/**
 * Swift's client checks its credentials by a POST, which changes nothing. Composer reports
 * installations, which are counted as the downloads of any reader are. A batch of Git LFS changes
 * nothing, and is authorized again if it is for an upload.
 */
const READ_BY_POST = [
  '/{owner}/{repo}/info/lfs/objects/batch',
  '/api/packages/{owner}/composer/downloads',
  '/api/packages/{owner}/swift',
  '/api/packages/{owner}/swift/login',
]

t.test('a disabled Git LFS has no routes', async (t) => {
  const countOf = (isEnabled: boolean) =>
    allRoutes({ ...ALL, lfs: { isEnabled } }).filter(({ path }) => path.includes('/info/lfs/'))
      .length
  t.equal(countOf(false), 0)
  t.ok(countOf(true) > 0)
})

t.test('disabled pages have no routes', async (t) => {
  const off = allRoutes({ ...ALL, web: { isEnabled: false } })
  t.strictSame(
    off.filter(({ surface }) => surface.name === 'web'),
    [],
  )
})

/** Pages need a session, and sign-in pages a password. */
const isPage = (surface: string, path: string) => surface === 'web' && !path.startsWith('/user/log')

/** Forms of users without a session, and the sign-out. */
const SIGN_IN_FORMS = [
  '/setup',
  '/user/login',
  '/user/logout',
  '/user/sign_up',
  '/user/two-factor',
  '/user/two-factor/key',
]

t.test('a write is never granted by read access or a read scope', async (t) => {
  for (const { method, path, access, scopes, surface } of allRoutes(ALL)) {
    const isRead =
      method === 'GET' || path.endsWith('/git-upload-pack') || READ_BY_POST.includes(path)
    const place = `${surface.name} ${method} ${path}`
    if (access.kind === 'open' && path.startsWith('/login/oauth/')) continue
    // Runners register with a token in the message, and have credentials of their own afterwards.
    // The tools of jobs have tokens and addresses for artifacts, without scopes.
    if (surface.name === 'runners' || surface.name === 'artifacts') continue
    if (isRead || SIGN_IN_FORMS.includes(path)) continue
    t.notMatch(access.kind, /^(?:open|anyone)$/, place)
    // Any reader with an account may open an issue.
    if (access.kind === 'repository') t.ok(access.mode !== 'read' || access.isSignedIn, place)
    if (access.kind === 'packages') t.not(access.mode, 'read', place)
    if (isPage(surface.name, path)) continue
    t.ok(access.kind === 'account' || scopes.some((scope) => /^write:/.test(scope)), place)
  }
})

t.test('a server that is stopped has released its port and its database', async (t) => {
  const { settings, log } = await startGateway(t)
  const createThrottle = createLocalThrottle
  const first = await startServer({ settings, log, createThrottle })
  const listen = [{ host: '127.0.0.1', port: first.port }]
  await first.stop()
  const again = { ...settings, http: { ...settings.http, listen } }
  const second = await startServer({ settings: again, log, createThrottle })
  t.equal(second.port, first.port)
  await second.stop()
})

t.test('a database that cannot be opened stops the start with a message', async (t) => {
  const { settings, log } = await startGateway(t)
  const location = { kind: 'sqlite', file: '/dev/null/gatehouse.db' } as const
  const options = { settings: { ...settings, database: { ...settings.database, location } }, log }
  const starting = startServer({ ...options, createThrottle: createLocalThrottle })
  await t.rejects(starting, { message: /^The database .* cannot be used: / })
})

t.test('a server whose git has no resource limits logs that and serves', async (t) => {
  const git = { ...(await findGit()), prlimit: undefined }
  const { lines, ask } = await startGateway(t, { git })
  t.equal(
    lines.filter(({ msg }) => /^git has no memory and CPU limits/.test(String(msg))).length,
    1,
  )
  t.match(await ask({ path: '/api/v1/version' }), { status: 200 })
})
