/** Tokens with limits other than scopes: permitted and refused requests on each surface. */

import t from 'tap'
import type { Identity } from '../../../gateway/auth/authenticate.js'
import { accessToListed } from '../../../gateway/auth/authorize-repository.js'
import type { TokenLimits, TokenRestriction } from '../../../sql/accounts/token-limits.js'
import type { User } from '../../../sql/accounts/users.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import {
  type GatewayWithUsers,
  startGatewayWithUsers,
  visible,
} from '../../helpers/gateway-with-users.js'
import { tryGit } from '../../helpers/git-client.js'
import { withPassword, withToken } from '../../helpers/requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const LIMITED = {
  status: 403,
  json: { message: 'This token is limited and does not permit this request.' },
}

async function makeRepository(
  { as }: GatewayWithUsers,
  name: string,
  isPrivate = true,
): Promise<number> {
  const body = { name, private: isPrivate, auto_init: true }
  const { json } = await as('ada', 'POST', '/user/repos', body)
  return (json as { id: number }).id
}

/** Returns functions that send requests with a new token of `user` with all scopes. */
async function holding(gateway: GatewayWithUsers, user: User, limits: Partial<TokenLimits>) {
  const { plain, token } = await gateway.addLimitedToken(user, limits, 'all')
  const authorization = withToken(plain)
  return {
    plain,
    token,
    ask: (method: string, path: string, body?: unknown) =>
      gateway.ask({ method, path, body, authorization }),
    api: (method: string, path: string, body?: unknown) =>
      gateway.ask({ method, path: `/api/v1${path}`, body, authorization }),
  }
}

const to = (...repositoryIds: readonly number[]): TokenRestriction => ({
  repositoryIds,
  packages: [],
})

t.test('a token limited to one repository works after a rename', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const id = await makeRepository(gateway, 'site')
  const { api } = await holding(gateway, gateway.ada, { reach: to(id) })
  const seen = await api('GET', '/repos/ada/site')
  t.match(seen, { status: 200, json: { permissions: { admin: false, push: true, pull: true } } })
  t.equal((await api('POST', '/repos/ada/site/issues', { title: 'x' })).status, 201)
  await gateway.as('ada', 'PATCH', '/repos/ada/site', { name: 'home' })
  t.equal((await api('GET', '/repos/ada/home')).status, 200)
  t.match(await api('GET', '/user'), { status: 200, json: { login: 'ada' } })
  await gateway.as('ada', 'DELETE', '/repos/ada/home')
  await makeRepository(gateway, 'home')
  t.equal(
    (await api('GET', '/repos/ada/home')).status,
    404,
    'another repository with the old name is not included',
  )
})

t.test('a token limited to one repository has anonymous access elsewhere', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const id = await makeRepository(gateway, 'site')
  await makeRepository(gateway, 'secret')
  await makeRepository(gateway, 'open', false)
  const chief = await gateway.addUser('chief', { isAdmin: true })
  await gateway.addOrganization('hidden', gateway.ada, 'private')
  await gateway.db('owners').where({ id: chief.id }).update({ visibility: 'private' })
  for (const user of [gateway.ada, chief]) {
    const { api, ask } = await holding(gateway, user, { reach: to(id) })
    t.strictSame(
      visible(await api('GET', '/repos/ada/secret')),
      visible(await api('GET', '/repos/ada/absent')),
    )
    t.equal((await ask('GET', '/ada/secret.git/info/refs?service=git-upload-pack')).status, 404)
    t.equal((await api('GET', '/repos/ada/open')).status, 200)
    t.match(await api('GET', '/repos/ada/open'), { json: { permissions: { push: false } } })
    t.match(await api('POST', '/repos/ada/open/issues', { title: 'x' }), LIMITED)
    t.match(await api('POST', '/repos/ada/open/forks', {}), LIMITED)
    t.match(await api('POST', '/repos/ada/site/forks', { name: 'mine' }), LIMITED)
    t.match(await api('GET', '/user/repos'), LIMITED)
    t.equal((await api('GET', '/orgs/hidden')).status, 404)
    t.equal((await api('GET', '/users/chief')).status, 404)
    t.strictSame((await api('GET', '/orgs')).json, [])
    const found = (await api('GET', '/repos/search')).json as { data: { name: string }[] }
    t.strictSame(
      found.data.map(({ name }) => name),
      ['open', 'site'],
    )
    await gateway.as('ada', 'POST', '/repos/ada/secret/issues', { title: 'hush' })
    await gateway.as('ada', 'POST', '/repos/ada/site/issues', { title: 'told' })
    const issues = (await api('GET', '/repos/issues/search')).json as { title: string }[]
    t.strictSame([...new Set(issues.map(({ title }) => title))], ['told'])
  }
  const { db, ada } = gateway
  const names = ['site', 'secret', 'open']
  const found = await Promise.all(names.map((name) => findRepository(db, 'ada', name)))
  const repositories = found.flatMap((repository) => repository ?? [])
  const who: Identity = {
    kind: 'user',
    user: ada,
    by: 'token',
    scopes: ['all'],
    limits: { expiresAtMs: undefined, addresses: [], reach: to(id) },
  }
  const modes = [...(await accessToListed(db, who, repositories)).values()].map(({ any }) => any)
  t.strictSame(modes.sort(), ['none', 'read', 'write'])
})

t.test('a token limited to one repository cannot read teams, members or site data', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const reach = to(await makeRepository(gateway, 'site'))
  const chief = await gateway.addUser('chief', { isAdmin: true })
  await gateway.addOrganization('club', chief)
  const all = withToken((await gateway.addToken(chief, 'all')).plain)
  const askAll = (path: string) => gateway.ask({ path: `/api/v1${path}`, authorization: all })
  const [team] = (await askAll('/orgs/club/teams')).json as { id: number }[]
  const paths = [
    '/orgs/club/teams',
    '/orgs/club/teams/search',
    `/teams/${team?.id}`,
    `/teams/${team?.id}/members`,
    '/user/orgs',
    '/user/teams',
    '/admin/users',
    '/admin/orgs',
  ]
  const { api } = await holding(gateway, chief, { reach })
  const statuses: unknown[] = []
  for (const path of paths) {
    statuses.push([path, (await askAll(path)).status, (await api('GET', path)).status])
  }
  t.strictSame(
    statuses,
    paths.map((path) => [path, 200, 403]),
  )
})

t.test(
  'a limited token cannot create keys, hooks, users or tokens that exceed its limits',
  async (t) => {
    const gateway = await startGatewayWithUsers(t)
    const id = await makeRepository(gateway, 'site')
    const root = await gateway.addUser('chief', { isAdmin: true })
    await gateway.addOrganization('club', root)
    const hook = { type: 'gitea', config: { url: 'http://127.0.0.1:1/', content_type: 'json' } }
    const limits: readonly Partial<TokenLimits>[] = [
      { expiresAtMs: Date.now() + 3_600_000 },
      { addresses: ['127.0.0.1'] },
      { reach: to(id) },
    ]
    for (const limit of limits) {
      const { api, plain } = await holding(gateway, root, limit)
      const refused = [
        ['POST', '/user/keys', { title: 'k', key: 'ssh-ed25519 AAAA' }],
        ['POST', '/repos/ada/site/keys', { title: 'k', key: 'ssh-ed25519 AAAA' }],
        ['POST', '/user/hooks', hook],
        ['POST', '/repos/ada/site/hooks', hook],
        ['POST', '/orgs/club/hooks', hook],
        ['POST', '/admin/users', { username: 'eve', email: 'eve@example.com', password: 'p' }],
        ['PATCH', '/admin/users/chief', { password: 'another password' }],
        ['PUT', '/repos/ada/site/collaborators/bob', {}],
        ['POST', '/repos/ada/site/transfer', { new_owner: 'bob' }],
        ['POST', '/orgs/club/teams', { name: 'crew' }],
      ] as const
      for (const [method, path, body] of refused) {
        t.match(await api(method, path, body), LIMITED, `${method} ${path}`)
      }
      const sudo = { path: '/api/v1/user', headers: { Sudo: 'ada' } }
      t.match(await gateway.ask({ ...sudo, authorization: withToken(plain) }), LIMITED)
      const tokens = await api('POST', '/users/chief/tokens', { name: 'n', scopes: ['all'] })
      t.match(tokens, { status: 401, json: { message: 'auth required' } })
    }
  },
)

t.test('a token is valid only from its addresses, as reported by the trusted proxy', async (t) => {
  const gateway = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
  })
  await makeRepository(gateway, 'site')
  const addresses = ['192.0.2.0/24', '2001:db8:1::/48']
  const { plain } = await holding(gateway, gateway.ada, { addresses })
  const from = (address: string, authorization: string, path = '/api/v1/repos/ada/site') =>
    gateway.ask({ path, authorization, headers: { 'x-forwarded-for': address } })
  for (const address of [
    '192.0.2.9',
    '2001:db8:1:2::3',
    '::ffff:192.0.2.1',
    '8.8.8.8, 192.0.2.9',
  ]) {
    t.equal((await from(address, withToken(plain))).status, 200, address)
  }
  const unknown = visible(await from('8.8.8.8', withToken('0'.repeat(40))))
  for (const address of ['198.51.100.1', '2001:db8:2::1', '192.0.2.9, 8.8.8.8', 'odd', '']) {
    t.strictSame(visible(await from(address, withToken(plain))), unknown, address)
  }
  for (const path of [
    '/ada/site.git/info/refs?service=git-upload-pack',
    '/api/packages/ada/generic/tool/1/a',
    '/api/v1/version',
  ]) {
    for (const authorization of [withPassword('ada', plain), withPassword(plain, '')]) {
      t.equal((await from('198.51.100.1', authorization, path)).status, 401, path)
    }
  }
})

t.test('git clones and pushes with a limited token until it expires', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const id = await makeRepository(gateway, 'site')
  await makeRepository(gateway, 'secret')
  const far = Date.now() + 3_600_000
  const { plain, token } = await holding(gateway, gateway.ada, { reach: to(id), expiresAtMs: far })
  const cwd = await temporaryFolder(t)
  const git = (...args: readonly string[]) => tryGit(args, { cwd })
  const address = (name: string) => `http://ada:${plain}@127.0.0.1:${gateway.port}/ada/${name}.git`
  // The second clone is answered from the pack cache.
  t.equal((await git('clone', '-q', address('site'), 'one')).exitCode, 0)
  t.equal((await git('clone', '-q', address('site'), 'two')).exitCode, 0)
  t.equal((await git('-C', 'one', 'push', '-q', 'origin', 'HEAD:refs/heads/b')).exitCode, 0)
  const hidden = await git('clone', '-q', address('secret'), 'three')
  t.match(hidden, { exitCode: 128, errorText: /not found/ })
  await gateway.db('tokens').where({ id: token.id }).update({ expires_at: Date.now() })
  const ended = await git('clone', '-q', address('site'), 'four')
  t.match(ended, { exitCode: 128, errorText: /Authentication failed/ })
  await makeRepository(gateway, 'open', false)
  const authorization = withPassword('ada', plain)
  const path = '/ada/open.git/info/refs?service=git-upload-pack'
  t.equal(
    (await gateway.ask({ path, authorization })).status,
    401,
    'not even for public repositories',
  )
})

t.test(
  "a token limited to an owner's packages works for all of them, and one for a package changes only that",
  async (t) => {
    const gateway = await startGatewayWithUsers(t)
    const { ada, bob } = gateway
    const whole = await holding(gateway, ada, {
      reach: { repositoryIds: [], packages: [{ ownerId: ada.id, named: undefined }] },
    })
    const one = await holding(gateway, ada, {
      reach: {
        repositoryIds: [],
        packages: [{ ownerId: ada.id, named: { format: 'generic', name: 'tool' } }],
      },
    })
    const other = await holding(gateway, ada, {
      reach: { repositoryIds: [], packages: [{ ownerId: bob.id, named: undefined }] },
    })
    const at = (path: string) => `/api/packages/ada/generic/${path}`
    const data = Buffer.from('data')
    t.equal((await whole.ask('PUT', at('thing/1/a'), data)).status, 201)
    t.equal((await one.ask('PUT', at('Tool/1/a'), data)).status, 201)
    const refused = [
      await one.ask('PUT', at('thing/2/a'), data),
      await one.ask('PUT', at('thing/1/a'), data),
      await one.ask('DELETE', at('thing/1/a')),
      await one.ask('DELETE', at('thing/1')),
      await other.ask('PUT', at('tool/2/a'), data),
    ]
    t.strictSame(
      refused.map(({ status }) => status),
      [403, 403, 403, 403, 403],
    )
    t.match(await one.api('GET', '/packages/ada/generic/tool/1.0'), { status: 404 })
    t.equal((await one.api('GET', '/packages/ada/generic/tool/1')).status, 200)
    t.match(await one.api('GET', '/packages/ada/generic/thing/1'), LIMITED)
    t.match(await one.api('GET', '/packages/ada'), LIMITED)
    t.match(await other.api('DELETE', '/packages/ada/generic/tool'), LIMITED)
    t.equal(
      (await one.ask('GET', at('thing/1/a'))).status,
      200,
      'public read access is not limited',
    )
    await gateway.db('owners').where({ id: ada.id }).update({ visibility: 'private' })
    t.equal((await whole.ask('GET', at('thing/1/a'))).status, 200)
    t.equal((await one.ask('GET', at('thing/1/a'))).status, 404)
    t.equal((await one.ask('DELETE', at('tool/1/a'))).status, 204)
    const id = await makeRepository(gateway, 'site', false)
    const link = '/packages/ada/generic/thing/-/link/site'
    t.equal((await whole.api('POST', link)).status, 404, 'it grants no access to a repository')
    const both = { repositoryIds: [id], packages: [{ ownerId: ada.id, named: undefined }] }
    t.equal((await (await holding(gateway, ada, { reach: both })).api('POST', link)).status, 201)
  },
)

t.test('the sign-in request of Swift accepts tokens limited to packages', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const packages = [{ ownerId: gateway.ada.id, named: { format: 'swift', name: 'a.b' } }]
  const swift = await holding(gateway, gateway.ada, { reach: { repositoryIds: [], packages } })
  t.equal((await swift.ask('POST', '/api/packages/ada/swift/login')).status, 200)
  const site = await holding(gateway, gateway.ada, { reach: to() })
  t.equal((await site.ask('POST', '/api/packages/ada/swift/login')).status, 403)
})
