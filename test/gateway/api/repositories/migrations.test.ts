/** Imports and mirrors over the API. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readMarker } from '../../../../cgi/repository/marker.js'
import { listImports } from '../../../../sql/repositories/repository-imports.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import type { GatewayOptions } from '../../../helpers/gateway.js'
import {
  type GatewayWithUsers,
  refusal,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../../helpers/git-client.js'
import { withPassword } from '../../../helpers/requests.js'
import {
  aSource,
  countConnections,
  referencesOf,
  serveBare,
  serveWith,
} from '../../../helpers/sources.js'

type Fields = Record<string, unknown>

const ALLOWED = { GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1,source.example' }

async function startFixture(t: Test, { environment, ...rest }: GatewayOptions = {}) {
  const gateway = await startGatewayWithUsers(t, {
    ...rest,
    environment: { ...ALLOWED, ...environment },
  })
  return {
    ...gateway,
    migrate: (body: Fields) => gateway.as('ada', 'POST', '/repos/migrate', body),
    isClean: async () => {
      t.strictSame(await listImports(gateway.db), [], 'no row is left')
      t.strictSame(await foldersOf(gateway), [], 'and no folder')
    },
  }
}

async function foldersOf({
  settings,
}: Pick<GatewayWithUsers, 'settings'>): Promise<readonly string[]> {
  const top = join(settings.data.dir, 'repositories')
  if (!existsSync(top)) return []
  const shards = await readdir(top)
  return (await Promise.all(shards.map((shard) => readdir(join(top, shard))))).flat()
}

const withoutPulls = (references: string) =>
  references.split('\n').filter((line) => !line.startsWith('refs/pull/'))

await onOneDatabase(
  t,
  'a repository is imported with all branches and tags',
  async (t, location) => {
    const { migrate, as, pathOf, db } = await startFixture(t, { location })
    const source = await aSource(t)
    const made = await migrate({
      clone_addr: source.url,
      repo_name: 'Taken',
      private: true,
      description: 'From there',
      service: 'gitea',
      mirror: false,
      wiki: false,
    })
    t.equal(made.status, 201, made.text)
    const { original_url, ...object } = made.json as Fields
    t.equal(original_url, source.url)
    isExpected(t, { ...object, size: 0 }, 'api/repository-migrated')
    t.strictSame((await as('ada', 'GET', '/repos/ada/Taken')).json, made.json)
    t.strictSame(
      withoutPulls(await referencesOf(await pathOf('ada', 'taken'))),
      withoutPulls(await referencesOf(source.path)),
    )
    t.equal(await readMarker(await pathOf('ada', 'taken')), 'ada/Taken')
    t.strictSame(await listImports(db), [])
    const again = await migrate({ clone_addr: source.url, repo_name: 'TAKEN' })
    t.equal(again.status, 409)
    t.match(again.json, refusal('The repository with the same name already exists.'))
    const empty = await migrate({ clone_addr: (await serveBare(t)).url, repo_name: 'empty' })
    t.match(empty, { status: 201, json: { empty: true, default_branch: 'main' } })
  },
)

await onOneDatabase(
  t,
  'an import is permitted to users who may create repositories for the owner',
  async (t, location) => {
    const gateway = await startFixture(t, { location })
    const { as, addOrganization, ada, bob } = gateway
    const { url } = await serveBare(t)
    await addOrganization('club', ada)
    await addOrganization('lodge', bob)
    await addOrganization('hidden', bob, 'private')
    const input = async (fields: Fields, name: 'ada' | 'root' = 'ada') => {
      const repo_name = `r${Math.random().toString(36).slice(2)}`
      const body = { clone_addr: url, repo_name, ...fields }
      const { status, json } = await as(name, 'POST', '/repos/migrate', body)
      const { message, owner } = json as { message?: string; owner?: { login: string } }
      return `${status} ${owner?.login ?? message}`
    }
    t.equal(await input({}), '201 ada')
    t.equal(await input({ repo_owner: 'ADA', uid: bob.id }), '201 ada', 'the name takes precedence')
    t.equal(await input({ repo_owner: 'club' }), '201 club')
    t.equal(await input({ uid: ada.id }), '201 ada')
    t.equal(await input({ repo_owner: 'bob' }), '403 Given user is not an organization.')
    t.equal(await input({ repo_owner: 'lodge' }), '403 Given user is not owner of organization.')
    t.equal(await input({ repo_owner: 'bob' }, 'root'), '201 bob')
    t.equal(await input({ repo_owner: 'hidden' }, 'root'), '201 hidden')
    const unknown = (name: string) => `422 user does not exist [uid: 0, name: ${name}]`
    t.equal(await input({ repo_owner: 'nobody' }), unknown('nobody'))
    t.equal(await input({ repo_owner: 'hidden' }), unknown('hidden'), 'reported as missing')
    t.equal(await input({ uid: 999 }), '422 user does not exist [uid: 999, name: ]')
  },
)

await onOneDatabase(t, 'a mirror follows its source and refuses pushes', async (t, location) => {
  const gateway = await startFixture(t, { location })
  const { migrate, as, ask, db, port, authorizationOf, pathOf } = gateway
  const source = await aSource(t)
  const fields = { clone_addr: source.url, mirror: true, issues: true, service: 'gitea' }
  const low = await migrate({ ...fields, repo_name: 'low', mirror_interval: '1m' })
  t.match(low, { status: 422, json: { message: /below the minimum of 600 seconds/ } })
  const odd = await migrate({ ...fields, repo_name: 'odd', mirror_interval: 'soon' })
  t.match(odd, { status: 422, json: { message: 'time: invalid duration "soon"' } })
  const made = await migrate({ ...fields, repo_name: 'm', mirror_interval: '1h30m' })
  t.equal(made.status, 201, made.text)
  t.match(made.json, { mirror: true, mirror_interval: '1h30m0s', original_url: source.url })
  t.not((made.json as Fields)['mirror_updated'], '0001-01-01T00:00:00Z')
  const changed = await as('ada', 'PATCH', '/repos/ada/m', { mirror_interval: '0' })
  t.match(changed, { status: 200, json: { mirror_interval: '0s' } })

  const token = authorizationOf('ada')?.replace('token ', '')
  const address = `http://ada:${token}@127.0.0.1:${port}/ada/m.git`
  const push = await tryGit(['push', address, 'main'], { cwd: source.copy.path })
  t.not(push.exitCode, 0)
  t.match(push.errorText, /Git Repository is a mirror\.[\s\S]*403/)
  const asked = { method: 'POST', authorization: authorizationOf('ada') }
  const direct = await ask({ ...asked, path: '/ada/m.git/git-receive-pack', body: '0000' })
  t.equal(direct.status, 403, 'also for a client without earlier requests')

  const file = { content: 'eA==', message: 'x', branch: 'main' }
  for (const [method, path, body] of [
    ['POST', '/contents/new', file],
    ['POST', '/contents', { files: [{ ...file, operation: 'create', path: 'new' }] }],
    ['POST', '/branches', { new_branch_name: 'new' }],
    ['DELETE', '/branches/main', undefined],
    ['POST', '/tags', { tag_name: 'new' }],
    ['DELETE', '/tags/tag-1', undefined],
  ] as const) {
    const refused = await as('ada', method, `/repos/ada/m${path}`, body)
    t.match(refused, { status: 403, json: refusal('Git Repository is a mirror.') }, path)
  }

  const sync = await as('ada', 'POST', '/repos/ada/m/mirror-sync')
  t.match(sync, { status: 200, text: '' })
  const [job] = await db('jobs').where({ kind: 'sync-mirror' })
  t.ok(job, 'an update is queued')
  t.equal(
    await git(['rev-parse', 'main'], { cwd: await pathOf('ada', 'm') }),
    await source.copy.git('rev-parse', 'main'),
  )
  await as('ada', 'POST', '/user/repos', { name: 'own' })
  const none = await as('ada', 'POST', '/repos/ada/own/mirror-sync')
  t.match(none, { status: 400, json: { message: 'Repository is not a mirror' } })
  await as('ada', 'PATCH', '/repos/ada/m', { archived: true })
  t.equal((await as('ada', 'POST', '/repos/ada/m/mirror-sync')).status, 423)
})

t.test('credentials are sent to the source and stored nowhere', async (t) => {
  const { migrate, lines, db } = await startFixture(t)
  const seen = new Set<string>()
  const source = await serveWith(t, (request, response) => {
    seen.add(request.headers.authorization ?? '')
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  })
  const secret = 'S3cret/pass'
  const url = new URL(source.url)
  const repo_name = 'r'
  const inputs: readonly Fields[] = [
    { clone_addr: source.url, auth_username: 'eve', auth_password: secret },
    { clone_addr: source.url, auth_token: secret },
    { clone_addr: `http://eve:${encodeURIComponent(secret)}@${url.host}/source.git` },
  ]
  for (const input of inputs) {
    const answer = await migrate({ ...input, repo_name })
    t.equal(answer.status, 422)
    t.match(answer.json, { message: /^Authentication failed: / })
    t.notMatch(answer.text, secret)
  }
  const eve = withPassword('eve', secret)
  t.strictSame([...seen], [eve, withPassword('oauth2', secret)])
  const whole = JSON.stringify([lines, await db('jobs'), await db('repository_imports')])
  for (const form of [secret, encodeURIComponent(secret), eve.slice(6)]) t.notMatch(whole, form)
  const failed = lines.filter((line) => line['event'] === 'import-failed')
  t.equal(failed.length, 3)
  t.match(failed[0], { level: 40, address: '127.0.0.1', fault: 'authentication' })
})

t.test('password guessing at other servers through imports is rate-limited', async (t) => {
  const { migrate } = await startFixture(t)
  const { url } = await serveWith(t, (_, response) => response.writeHead(401).end())
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const body = { clone_addr: url, repo_name: 'r', auth_password: `guess ${attempt}` }
    statuses.push((await migrate(body)).status)
  }
  t.strictSame(statuses, [...Array<number>(10).fill(422), 429, 429])
})

t.test('an unsupported import is refused with the reason', async (t) => {
  const { migrate, isClean } = await startFixture(t)
  const { url: clone_addr } = await serveBare(t)
  const refused = async (fields: Fields, message: string | RegExp) => {
    const answer = await migrate({ clone_addr, repo_name: 'r', ...fields })
    t.equal(answer.status, 422, answer.text)
    t.match(answer.json, { message })
  }
  const leaveOut = (names: string) => `so omit them: ${names}`
  for (const service of ['gogs', 'github', 'gitlab', 'onedev', 'gitbucket', 'codebase']) {
    const fields = { service, issues: true, releases: true }
    await refused(fields, new RegExp(leaveOut('issues, releases')))
  }
  await refused({ service: 'svn' }, /^\[Service\]: /)
  await refused({ repo_name: '..' }, /name/)
  await refused({ repo_name: 'x.git' }, /reserved/)
  await refused({ repo_name: undefined }, '[RepoName]: Required')
  await refused({ clone_addr: undefined }, '[CloneAddr]: Required')
  await refused({ clone_addr: '' }, '[CloneAddr]: Required')
  await isClean()
})

t.test('hostile addresses are refused before any connection', async (t) => {
  const { migrate, isClean, settings } = await startFixture(t, {
    environment: { GATEHOUSE_OUTBOUND_ALLOW: 'source.example' },
  })
  const trap = await countConnections(t)
  const at = (host: string, rest = '/x.git') => `http://${host}:${trap.port}${rest}`
  const disallowed = [
    '127.0.0.1',
    'localhost',
    'localhost.',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[fd00::1]',
    '[fe80::1]',
    '0',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '224.0.0.1',
    'user:secret@127.0.0.1',
    '127.0.0.1.',
    '１２７.0.0.1',
  ].map((host) => at(host))
  const local = [
    '/srv/git/private.git',
    '../private.git',
    './x',
    '~/x',
    'file:///etc/passwd',
    '\\\\unc\\x',
    'C:\\x',
    settings.data.dir,
  ]
  const odd = [
    '--upload-pack=touch /tmp/o',
    '-c core.sshCommand=touch',
    '-u./x',
    'ext::sh -c id',
    'fd::3',
    `git://127.0.0.1:${trap.port}/x`,
    'ssh://-oProxyCommand=id/x',
    'git@host:x',
    'gopher://x/',
    'http::http://x/',
    'https:///evil/x',
    'http:x',
    'ftp://x/y',
    'javascript:1',
    at('source.example', '/%0d%0aX:'),
    at('source.example', '/x?y'),
    at('source.example', '/#'),
    `http://source.example\\@127.0.0.1:${trap.port}/`,
    ' http://source.example/',
    'http://a b/',
    'http://source.example/\nx',
    `http://${'x'.repeat(3_000)}/`,
    'http://[::1/x',
    'http://x:99999/',
  ]
  const refused = async (addresses: readonly string[], message: string) => {
    for (const clone_addr of addresses) {
      const answer = await migrate({ clone_addr, repo_name: 'r' })
      t.equal(answer.status, 422, clone_addr.slice(0, 60))
      t.match(answer.json, { message }, clone_addr.slice(0, 60))
    }
  }
  await refused(disallowed, 'You can not import from disallowed hosts.')
  await refused(local, 'You are not allowed to import local repositories.')
  await refused(odd, 'The clone address must be a URL of http or https, without a query.')
  t.equal(trap.count(), 0)
  await isClean()
})

t.test('a redirect to a private address and a source that never answers are refused', async (t) => {
  const { migrate, isClean } = await startFixture(t, {
    environment: { GATEHOUSE_MIGRATIONS_IDLE_TIMEOUT: '2s' },
  })
  const trap = await countConnections(t)
  const location = `http://127.0.0.1:${trap.port}/`
  const turning = await serveWith(t, (_, response) => response.writeHead(302, { location }).end())
  const redirected = await migrate({ clone_addr: turning.url, repo_name: 'r' })
  t.match(redirected, {
    status: 422,
    json: { message: /^Migration failed: the other server redirects/ },
  })
  t.equal(trap.count(), 0)
  const silent = await serveWith(t, () => {})
  const left = await migrate({ clone_addr: silent.url, repo_name: 'r' })
  t.match(left, { status: 422, json: { message: /^Migration failed: / } })
  await isClean()
})

t.test('an administrator can disable imports or mirrors', async (t) => {
  const { url: clone_addr } = await serveBare(t)
  const off = await startFixture(t, { environment: { GATEHOUSE_MIGRATIONS_ENABLED: 'false' } })
  t.match(await off.migrate({ clone_addr, repo_name: 'r' }), {
    status: 403,
    json: { message: 'the site administrator has disabled migrations' },
  })
  const once = await startFixture(t, { environment: { GATEHOUSE_MIGRATIONS_MIRRORS: 'false' } })
  t.equal((await once.migrate({ clone_addr, repo_name: 'r' })).status, 201)
  t.match(await once.migrate({ clone_addr, repo_name: 'm', mirror: true }), {
    status: 403,
    json: { message: 'the site administrator has disabled creation of new pull mirrors' },
  })
})
