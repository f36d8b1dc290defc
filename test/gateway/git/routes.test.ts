/** Routes of Git over HTTP: four requests of the smart protocol with their permissions. */

import { join } from 'node:path'
import t from 'tap'
import { GIT_ROUTES } from '../../../gateway/git/routes.js'
import { findRepository, updateRepository } from '../../../sql/repositories/repositories.js'
import { postFetch } from '../../helpers/fetch-answers.js'
import { startGatewayWithUsers, visible } from '../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { fetchBody } from '../../helpers/git-requests.js'
import { withPassword } from '../../helpers/requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const UPLOAD = '/info/refs?service=git-upload-pack'
const RECEIVE = '/info/refs?service=git-receive-pack'

t.test('fetches need read and pushes need write permission, in access and scope', async (t) => {
  const needs = GIT_ROUTES.map(({ method, path, query, access, scopes }) => {
    const mode = access.kind === 'repository' ? access.mode : access.kind
    const place = path.slice('/{owner}/{repo}'.length) + (query ? `?${query}` : '')
    return `${method} ${place}: ${[mode, ...scopes].join(' ')}`
  })
  t.strictSame(needs, [
    'GET /info/refs?service=git-upload-pack: read read:repository',
    'GET /info/refs?service=git-receive-pack: write write:repository',
    'GET /info/refs: anyone',
    'POST /git-upload-pack: read read:repository',
    'GET /bundles/{bundle}: read read:repository',
    'POST /git-receive-pack: write write:repository',
  ])
})

t.test(
  'a public repository is readable by all, and private and missing ones ask to sign in',
  async (t) => {
    const { as, ask } = await startGatewayWithUsers(t)
    await as('ada', 'POST', '/user/repos', { name: 'open' })
    await as('ada', 'POST', '/user/repos', { name: 'hidden', private: true })
    for (const name of ['open', 'open.git', 'OPEN.git']) {
      const answer = await ask({ path: `/ada/${name}${UPLOAD}` })
      t.equal(answer.status, name.startsWith('o') ? 200 : 301, name)
    }
    const hidden = await ask({ path: `/ada/hidden.git${UPLOAD}` })
    t.equal(hidden.status, 401)
    t.equal(hidden.headers['www-authenticate'], 'Basic realm="Gatehouse"')
    const unseen = ['/ada/absent.git', '/nobody/hidden', '/ada/%00', '/..%2Fada/hidden']
    const wikis = ['/ada/hidden.wiki.git', '/ada/absent.wiki', '/ada/.wiki', '/ada/x.wiki.wiki']
    for (const path of [...unseen, ...wikis]) {
      t.strictSame(visible(await ask({ path: path + UPLOAD })), visible(hidden), path)
    }
    for (const path of ['open', 'absent', 'open.wiki'].map((name) => `/ada/${name}${RECEIVE}`)) {
      t.strictSame(visible(await ask({ path })), visible(hidden), path)
    }
  },
)

t.test('passwords are refused on each request unless git.allow_password is set', async (t) => {
  for (const allowed of [false, true]) {
    const environment = { GATEHOUSE_GIT_ALLOW_PASSWORD: String(allowed) }
    const { as, ask } = await startGatewayWithUsers(t, { environment })
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    const statuses = async (password: string) => {
      const authorization = withPassword('ada', password)
      const body = { method: 'POST', body: '0000' }
      const asked = [
        await ask({ path: `/ada/r.git${UPLOAD}`, authorization }),
        await ask({ path: `/ada/r.git${RECEIVE}`, authorization }),
        await ask({ ...body, path: '/ada/r.git/git-upload-pack', authorization }),
        await ask({ ...body, path: '/ada/r.git/git-receive-pack', authorization }),
      ]
      return asked.map(({ status }) => status)
    }
    const taken = [200, 200, 415, 415]
    t.strictSame(await statuses('password of ada'), allowed ? taken : [401, 401, 401, 401])
    t.strictSame(await statuses('another password'), [401, 401, 401, 401])
  }
})

t.test('the refusal of a password names the API if pages are off', async (t) => {
  const { ask } = await startGatewayWithUsers(t, {
    environment: { GATEHOUSE_WEB_ENABLED: 'false' },
  })
  const authorization = withPassword('ada', 'password of ada')
  t.match(await ask({ path: `/ada/r.git${UPLOAD}`, authorization }), {
    text: /^Git over HTTPS takes .* with POST http:\/\/\S+\/api\/v1\/users\/USER\/tokens\.\n$/,
  })
})

t.test('an old name of a repository redirects to its current one', async (t) => {
  const { as, ask } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'Old' })
  await as('ada', 'PATCH', '/repos/ada/old', { name: 'New' })
  const base = 'http://code.example.com/ada/New.git'
  for (const name of ['/ada/old', '/Ada/NEW.git', '/ada/Old.git']) {
    const { status, headers } = await ask({ path: name + UPLOAD })
    t.equal(status, 301, name)
    t.equal(headers.location, base + UPLOAD)
  }
  const wiki = await ask({ path: `/ada/old.Wiki${UPLOAD}` })
  t.equal(wiki.headers.location, base.replace('.git', '.wiki.git') + UPLOAD)
})

t.test('the dumb protocol and other services are refused', async (t) => {
  const { as, ask } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  for (const query of [
    '',
    '?service=git-upload-archive',
    '?service=',
    '?service=git-upload-pack&x',
  ]) {
    const answer = await ask({ path: `/ada/r.git/info/refs${query}` })
    t.equal(answer.status, 403, query)
    t.match(answer.text, /smart HTTP protocol/)
  }
  for (const path of ['/HEAD', '/objects/info/packs', '/config', '/objects/../config', '/..']) {
    t.equal((await ask({ path: `/ada/r.git${path}` })).status, 404, path)
  }
})

t.test('a body of another content type or coding is refused before git runs', async (t) => {
  const { as, ask } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const posted = (headers: Record<string, string>) =>
    ask({ method: 'POST', path: '/ada/r.git/git-upload-pack', body: '0000', headers })
  const type = 'application/x-git-upload-pack-request'
  for (const other of ['', 'text/plain', 'application/x-git-receive-pack-request']) {
    t.equal((await posted({ 'content-type': other })).status, 415, other)
  }
  for (const coding of ['br', 'gzip, gzip', 'deflate', 'gzip;x']) {
    const coded = await posted({ 'content-type': type, 'content-encoding': coding })
    t.equal(coded.status, 415, coding)
  }
  t.equal((await posted({ 'content-type': type })).status, 200)
})

t.test('an archived repository refuses pushes with a message and is readable', async (t) => {
  const { as, ask } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { archived: true })
  const made = await ask({
    method: 'POST',
    path: '/api/v1/users/ada/tokens',
    authorization: withPassword('ada', 'password of ada'),
    body: { name: 'push', scopes: ['write:repository'] },
  })
  const { sha1 } = made.json as { sha1: string }
  const authorization = withPassword('ada', sha1)
  const push = await ask({ path: `/ada/r.git${RECEIVE}`, authorization })
  t.match(push, { status: 403, text: 'ada/r is archived: it can be read, not pushed to.\n' })
  t.equal((await ask({ path: `/ada/r.git${UPLOAD}`, authorization })).status, 200)
})

t.test('anonymous requests to a repository over the size limit are asked to sign in', async (t) => {
  const environment = { GATEHOUSE_GIT_ANONYMOUS_CLONE_MAX: '2KiB' }
  const { as, ask, db, port, pathOf, bob, addToken } = await startGatewayWithUsers(t, {
    environment,
  })
  for (const [name, sizeKib] of [
    ['large', 3],
    ['small', 2],
  ] as const) {
    await as('ada', 'POST', '/user/repos', { name, auto_init: true })
    const repository = await findRepository(db, 'ada', name)
    await updateRepository(db, repository?.id ?? 0, { sizeKib })
  }
  const tip = await git(['rev-parse', 'main'], { cwd: await pathOf('ada', 'large') })
  const { plain: token } = await addToken(bob, 'read:repository')
  const authorization = withPassword('bob', token)
  const post = (name: string, more: { readonly authorization?: string } = {}) =>
    postFetch({ port, path: `/ada/${name}.git`, body: fetchBody(tip), ...more })

  for (const protocol of ['version=2', 'version=0']) {
    const get = (name: string, more: { readonly authorization?: string } = {}) =>
      ask({ path: `/ada/${name}.git${UPLOAD}`, headers: { 'git-protocol': protocol }, ...more })
    const refused = await get('large')
    t.match(refused, { status: 401, text: /^This repository is large\. .*sign in/ })
    t.equal(refused.headers['www-authenticate'], 'Basic realm="Gatehouse"')
    t.equal((await get('large', { authorization })).status, 200, 'any signed-in user')
    t.equal((await get('small')).status, 200)
  }
  t.equal((await post('large', { authorization })).status, 200)
  t.match(await post('large'), { status: 401 }, 'a cached answer is refused too')
  t.equal((await post('small')).status, 200)

  const folder = await temporaryFolder(t)
  const clone = (who: string, into: string) =>
    tryGit(['clone', '--quiet', `http://${who}127.0.0.1:${port}/ada/large.git`, into], {
      cwd: folder,
    })
  t.match(await clone('', 'stranger'), { errorText: /could not read Username/ })
  t.match(await clone(`bob:${token}@`, 'bob'), { exitCode: 0 })
  t.equal(await git(['rev-parse', 'HEAD'], { cwd: join(folder, 'bob') }), tip)
})
