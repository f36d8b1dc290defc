/** Threat: a surface accepts a password without the second factor, or a code twice. */

import t, { type Test } from 'tap'
import { findGit } from '../../cgi/process/git.js'
import { createLocalThrottle } from '../../gateway/auth/throttle.js'
import { startServer } from '../../gateway/server.js'
import { startGateway } from '../helpers/gateway.js'
import { passwordOf } from '../helpers/passwords.js'
import { ask, withPassword, withToken } from '../helpers/requests.js'
import { enrol } from '../helpers/second-factor.js'

const RECOVERY_CODE = '0123456789abcdef0123'

/** Starts a gateway with a private repository of ada, who has a second factor. */
async function openFixture(t: Test) {
  // By default, the Git surface refuses all passwords.
  const gateway = await startGateway(t, { environment: { GATEHOUSE_GIT_ALLOW_PASSWORD: 'true' } })
  const ada = await gateway.addUser('ada')
  const { plain } = await gateway.addToken(ada, 'all')
  const repository = { name: 'secret', private: true, auto_init: true }
  const made = { method: 'POST', path: '/api/v1/user/repos', authorization: withToken(plain) }
  t.equal((await gateway.ask({ ...made, body: repository })).status, 201)
  const app = await enrol(gateway, ada, RECOVERY_CODE)
  const asUser = (
    code?: string,
    request: { path?: string; method?: string; body?: unknown } = {},
  ) =>
    gateway.ask({
      path: '/api/v1/user',
      authorization: withPassword('ada', passwordOf('ada')),
      ...request,
      headers: code === undefined ? {} : { 'x-gitea-otp': code },
    })
  return { ...gateway, ada, app, plain, asUser }
}

const ROUTES = [
  { path: '/api/v1/user' },
  { path: '/api/v1/repos/ada/secret' },
  { path: '/api/v1/version' },
  { path: '/api/v1/users/ada/tokens' },
  { method: 'POST', path: '/api/v1/users/ada/tokens', body: { name: 't', scopes: ['all'] } },
  { path: '/ada/secret.git/info/refs?service=git-upload-pack' },
  { path: '/ada/secret.git/info/refs?service=git-receive-pack' },
  { path: '/ada/secret/raw/branch/main/README.md' },
  { path: '/ada/secret/archive/main.zip' },
  { method: 'PUT', path: '/api/packages/ada/generic/tool/1.0/tool.txt', body: 'x' },
  { path: '/api/packages/ada/generic/tool/1.0/tool.txt' },
  { path: '/api/packages/ada/debian/repository.key' },
]

t.test('API, Git and packages refuse a password alone and accept a token', async (t) => {
  const { ask, plain, asUser } = await openFixture(t)
  for (const authorization of [
    withPassword('ada', passwordOf('ada')),
    withPassword('ADA@example.com', passwordOf('ada')),
  ]) {
    for (const route of ROUTES) {
      const { status, text } = await ask({ ...route, authorization })
      t.equal(status, 401, `${route.method ?? 'GET'} ${route.path}`)
      t.match(text, /second factor: use an access token/, route.path)
    }
  }
  for (const empty of ['', ' ', '000000000000', 'undefined']) {
    t.equal((await asUser(empty)).status, 401, empty)
  }
  const token = withToken(plain)
  for (const path of ['/api/v1/user', ROUTES[5]?.path ?? '', ROUTES[7]?.path ?? '']) {
    t.equal((await ask({ path, authorization: token })).status, 200, path)
  }
  t.equal(
    (await ask({ path: '/api/v1/user', authorization: withPassword('ada', plain) })).status,
    200,
    'a token is accepted as the password',
  )
})

t.test('a one-time code is accepted once among concurrent requests', async (t) => {
  const { app, asUser, ask, db } = await openFixture(t)
  const past = app.code(-1)
  const code = app.code()
  const tokens = { method: 'POST', path: '/api/v1/users/ada/tokens' }
  const input = (n: number) => ({ ...tokens, body: { name: `t${n}`, scopes: ['all'] } })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => asUser(code, input(n))))
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 201).length, 1, statuses.join(' '))
  t.equal(statuses.filter((status) => status === 401 || status === 429).length, 19)
  t.equal(
    await db('tokens')
      .where('name', 'like', 't_')
      .orWhere('name', 'like', 't__')
      .count({ n: '*' })
      .then(([row]) => Number(row?.['n'])),
    1,
  )
  for (const stale of [code, past]) {
    t.not((await asUser(stale)).status, 200, 'a used or expired code is refused')
  }
  const wrong = withPassword('ada', 'not the password')
  const guess = await ask({
    path: '/api/v1/user',
    authorization: wrong,
    headers: { 'x-gitea-otp': app.code(1) },
  })
  t.not(guess.status, 200, 'a code does not replace the password')
})

t.test('a one-time code is accepted once across two gateways on one database', async (t) => {
  const { port, settings, log, app } = await openFixture(t)
  const options = { settings, log, git: await findGit(), createThrottle: createLocalThrottle }
  const second = await startServer(options)
  t.teardown(() => second.stop())
  const authorization = withPassword('ada', passwordOf('ada'))
  const headers = { 'x-gitea-otp': app.code() }
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      ask(n % 2 === 0 ? port : second.port, { path: '/api/v1/user', authorization, headers }),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
})

t.test('a recovery code is accepted once, and only for its account', async (t) => {
  const { addUser, asUser, settings, db, ask } = await openFixture(t)
  const bob = await addUser('bob')
  await enrol({ settings, db }, bob, 'b'.repeat(20))
  t.equal((await asUser('b'.repeat(20))).status, 401)
  const answers = await Promise.all(Array.from({ length: 8 }, () => asUser(RECOVERY_CODE)))
  t.strictSame(
    answers.map(({ status }) => status).filter((status) => status !== 401),
    [200],
  )
  const { status } = await ask({
    path: '/api/v1/user',
    authorization: withPassword('bob', passwordOf('bob')),
    headers: { 'x-gitea-otp': 'b'.repeat(20) },
  })
  t.equal(status, 200)
})

t.test('a right code is refused with 429 after ten wrong codes', async (t) => {
  const { app, asUser } = await openFixture(t)
  const guesses = await Promise.all(
    Array.from({ length: 30 }, (_, n) => asUser(String(n).padStart(6, '0'))),
  )
  t.equal(guesses.filter(({ status }) => status === 401).length, 10)
  const late = await asUser(app.code())
  t.equal(late.status, 429)
  t.ok(Number(late.headers['retry-after']) > 0)
})
