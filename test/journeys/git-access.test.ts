/** Read access over Git; private and missing repositories are indistinguishable without it. */

import t, { type Test } from 'tap'
import { onOneDatabase } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { askRaw, basic, comparablePart, type RawRequest } from '../helpers/literal-http.js'
import { makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { cloneInto, newWorkingCopy, tryClone, workingCopyAt } from '../helpers/working-copy.js'

const REFS = '/info/refs?service=git-upload-pack'
const WRITE_REFS = '/info/refs?service=git-receive-pack'
const FETCH = { 'content-type': 'application/x-git-upload-pack-request' }
const PUSH = { 'content-type': 'application/x-git-receive-pack-request' }

/** Every kind of request that a Git client sends to a repository, and some that no client sends. */
const REQUESTS: ReadonlyArray<Omit<RawRequest, 'path'> & { readonly below: string }> = [
  { below: REFS },
  { below: REFS, headers: { 'git-protocol': 'version=2' } },
  { below: REFS, method: 'HEAD' },
  { below: WRITE_REFS },
  { below: '/info/refs' },
  { below: '/git-upload-pack', method: 'POST', headers: FETCH, body: '0000' },
  { below: '/git-receive-pack', method: 'POST', headers: PUSH, body: '0000' },
  {
    below: '/git-upload-pack',
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'x',
  },
  { below: '/HEAD' },
  { below: '' },
]

interface GatewayWithUsers {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly bob: Person
  /** Commit on main of every repository. */
  readonly head: string
}

// Each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'read access over Git', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const bob = await gatehouse.addUser('bob')
  const source = await newWorkingCopy(t)
  const head = await source.commit('file')
  await ada.api('POST', '/orgs', { username: 'guild' })
  for (const isPrivate of [false, true]) {
    const name = isPrivate ? 'secret' : 'open'
    await makeRepository(ada, name, { private: isPrivate })
    await makeRepository(ada, name, { private: isPrivate, organization: 'guild' })
    for (const owner of ['ada', 'guild']) {
      await source.git('push', '--quiet', ada.remote(`${owner}/${name}.git`), 'main')
    }
  }
  const gateway = { gatehouse, ada, bob, head }
  await openSurfaces(t, gateway)
  await teamUnits(t, gateway)
  await credentialForms(t, gateway)
  await sameness(t, gateway)
  await smartOnly(t, gateway)
})

async function openSurfaces(
  t: Test,
  { gatehouse, ada, bob, head }: GatewayWithUsers,
): Promise<void> {
  await t.test(
    'a public repository is cloned by anonymous clients and by other users',
    async (t) => {
      for (const owner of ['ada', 'guild']) {
        const copy = await cloneInto(t, `${gatehouse.url}/${owner}/open.git`)
        t.equal(await copy.git('rev-parse', 'HEAD'), head)
        const bobs = await cloneInto(t, bob.remote(`${owner}/open.git`))
        t.equal(await bobs.git('rev-parse', 'HEAD'), head)
      }
    },
  )

  await t.test('a private repository is cloned by its owner and not by other users', async (t) => {
    for (const owner of ['ada', 'guild']) {
      const copy = await cloneInto(t, ada.remote(`${owner}/secret.git`))
      t.equal(await copy.git('rev-parse', 'HEAD'), head)
      const refused = await tryClone(t, bob.remote(`${owner}/secret.git`))
      t.match(refused.errorText, /repository .* not found/)
      const anonymous = await tryClone(t, `${gatehouse.url}/${owner}/secret.git`)
      t.match(anonymous.errorText, /could not read Username/, 'git asks for credentials')
    }
  })

  await t.test('a wrong token is refused even for a public repository', async (t) => {
    const wrong = `--config=http.extraHeader=Authorization: token ${'0'.repeat(40)}`
    const { exitCode, errorText } = await tryClone(t, `${gatehouse.url}/ada/open.git`, [wrong])
    t.not(exitCode, 0)
    t.match(errorText, /could not read Username|Authentication failed/)
  })
}

async function teamUnits(t: Test, { ada, bob, head }: GatewayWithUsers): Promise<void> {
  await t.test('a team clones and pushes by its unit code, whatever its others are', async (t) => {
    const team = { name: 'testers', includes_all_repositories: true, units: ['repo.issues'] }
    const { id } = (await ada.api('POST', '/orgs/guild/teams', team)).body as { id: number }
    await ada.api('PUT', `/teams/${id}/members/bob`)
    const secret = bob.remote('guild/secret.git')
    const push = async (branch: string) => {
      const copy = await newWorkingCopy(t)
      await copy.commit(branch)
      return await copy.try(['push', secret, `main:refs/heads/${branch}`])
    }
    const hold = (code: string) =>
      ada.api('PATCH', `/teams/${id}`, {
        units_map: { 'repo.issues': 'write', 'repo.packages': 'write', 'repo.code': code },
      })
    await hold('none')
    t.match((await tryClone(t, secret)).errorText, /repository .* not found/)
    t.match((await push('none')).errorText, /repository .* not found/)
    await hold('read')
    t.equal(await (await cloneInto(t, secret)).git('rev-parse', 'HEAD'), head)
    t.match((await push('read')).errorText, /error: 403/)
    await hold('write')
    t.equal((await push('write')).exitCode, 0)
    await ada.api('DELETE', `/teams/${id}`)
  })
}

async function credentialForms(t: Test, { gatehouse, ada, head }: GatewayWithUsers): Promise<void> {
  const server = `127.0.0.1:${gatehouse.port}`
  const { token } = ada
  const addresses: Readonly<Record<string, string>> = {
    'name and token': `ada:${token}`,
    'any name and token': `git:${token}`,
    'the token alone': `${token}:`,
    'the token and x-oauth-basic': `${token}:x-oauth-basic`,
  }
  for (const [form, user] of Object.entries(addresses)) {
    await t.test(`a private repository is read with ${form} in the URL`, async (t) => {
      const refs = await git(['ls-remote', `http://${user}@${server}/ada/secret.git`], { cwd: '/' })
      t.match(refs, `${head}\tHEAD`)
    })
  }
  for (const scheme of ['token', 'Bearer', 'bearer']) {
    await t.test(`a private repository is read with a header of scheme ${scheme}`, async (t) => {
      const header = ['-c', `http.extraHeader=Authorization: ${scheme} ${token}`]
      const address = `http://${server}/ada/secret.git`
      t.match(await git([...header, 'ls-remote', address], { cwd: '/' }), `${head}\tHEAD`)
    })
  }

  await t.test('clones and pushes with a password fail with the URL of tokens', async (t) => {
    const says = new RegExp(
      'remote: Git over HTTPS takes an access token as the password. ' +
        `Create one at ${gatehouse.url}/user/settings/applications\\.\n` +
        'fatal: Authentication failed',
    )
    for (const password of [ada.password, 'a wrong password']) {
      const address = `http://ada:${encodeURIComponent(password)}@${server}/ada/secret.git`
      t.match(await tryClone(t, address), { exitCode: 128, errorText: says }, password)
      const copy = await newWorkingCopy(t)
      await copy.commit('file')
      const push = await copy.try(['push', address, 'main:refs/heads/by-password'])
      t.match(push, { exitCode: 128, errorText: says }, password)
    }
  })

  await t.test('git calls its credential helper once, after the challenge', async (t) => {
    const folder = workingCopyAt(await temporaryFolder(t))
    const answer = `!f() { echo asked >&2; echo username=ada; echo password=${token}; }; f`
    const { exitCode, errorText } = await folder.try([
      '-c',
      `credential.helper=${answer}`,
      'clone',
      `http://${server}/ada/secret.git`,
      'clone',
    ])
    t.equal(exitCode, 0)
    t.equal(errorText.split('asked').length - 1, 2, 'git calls the helper with get and with store')
  })

  await t.test('a token in the query string is ignored', async (t) => {
    const path = `/ada/secret.git${REFS}&token=${token}`
    t.equal((await askRaw(gatehouse.port, { path })).status, 401)
  })
}

async function sameness(t: Test, { gatehouse, bob }: GatewayWithUsers): Promise<void> {
  const callers = { 'an anonymous client': {}, 'another user': basic('bob', bob.token) }
  for (const [caller, credentials] of Object.entries(callers)) {
    await t.test(`private and missing repositories have equal replies for ${caller}`, async (t) => {
      for (const { below, headers = {}, ...request } of REQUESTS) {
        const answers = []
        for (const name of ['ada/secret', 'ada/nowhere', 'guild/secret', 'nobody/secret']) {
          for (const suffix of ['.git', '']) {
            const path = `/${name}${suffix}${below}`
            const sent = { ...request, path, headers: { ...headers, ...credentials } }
            answers.push(comparablePart(await askRaw(gatehouse.port, sent)))
          }
        }
        for (const answer of answers) t.strictSame(answer, answers[0], `${below} for ${caller}`)
      }
    })
  }

  await t.test('a missing repository is answered with a Basic challenge', async (t) => {
    const { status, headers } = await askRaw(gatehouse.port, { path: `/ada/nowhere.git${REFS}` })
    t.equal(status, 401)
    t.equal(headers['www-authenticate'], 'Basic realm="Gatehouse"')
  })
}

async function smartOnly(t: Test, { gatehouse }: GatewayWithUsers): Promise<void> {
  const ask = (path: string, request: Omit<RawRequest, 'path'> = {}) =>
    askRaw(gatehouse.port, { ...request, path })

  await t.test('HEAD of info/refs has the headers of GET and no body', async (t) => {
    const get = await ask(`/ada/open.git${REFS}`)
    const head = await ask(`/ada/open.git${REFS}`, { method: 'HEAD' })
    t.equal(head.status, 200)
    t.equal(head.body.length, 0)
    t.equal(head.headers['content-type'], 'application/x-git-upload-pack-advertisement')
    t.equal(get.headers['content-type'], head.headers['content-type'])
    t.match(get.headers['cache-control'], /no-cache/)
    t.ok(get.body.length > 0)
  })

  await t.test('the dumb HTTP protocol is not served', async (t) => {
    const files = [
      'HEAD',
      'config',
      'description',
      'packed-refs',
      'refs/heads/main',
      'objects/info/packs',
      'objects/info/alternates',
      'objects/info/http-alternates',
      'hooks/update',
      `objects/${'a'.repeat(2)}/${'b'.repeat(38)}`,
      `objects/pack/pack-${'a'.repeat(40)}.pack`,
      `objects/pack/pack-${'a'.repeat(40)}.idx`,
    ]
    for (const file of files) {
      for (const name of ['open.git', 'open']) {
        t.equal((await ask(`/ada/${name}/${file}`)).status, 404, file)
      }
    }
    t.equal((await ask('/ada/open.git/info/refs')).status, 403)
    t.equal((await ask('/ada/open.git/info/refs?service=git-upload-archive')).status, 403)
    t.equal((await ask('/ada/open.git/info/refs?service=upload-pack')).status, 403)
    const folder = workingCopyAt(await temporaryFolder(t))
    const { exitCode } = await folder.try(['clone', `${gatehouse.url}/ada/open.git`, 'dumb'], {
      environment: { GIT_SMART_HTTP: '0' },
    })
    t.not(exitCode, 0)
  })

  await t.test('no path reaches files outside of the protocol or of the repository', async (t) => {
    const paths = [
      '/ada/open.git/objects/../config',
      '/ada/open.git/objects/%2e%2e/config',
      '/ada/open.git/objects%2f..%2fconfig',
      '/ada/open.git/info/../config',
      '/ada/open.git/info/..%2f..%2fconfig',
      '/ada/../ada/open.git/config',
      '/ada/open.git/../secret.git/info/refs?service=git-upload-pack',
      '/ada/open.git/%2e%2e/secret.git/info/refs?service=git-upload-pack',
      '/ada/open.git//config',
      '/ada/open.git/./config',
      '/ada/open.git/info/refs/?service=git-upload-pack',
      '/ada/open.git/info%2frefs?service=git-upload-pack',
      '/ada%2fopen.git/info/refs?service=git-upload-pack',
    ]
    for (const path of paths) {
      const { status, body } = await ask(path)
      t.equal(status, 404, path)
      t.notMatch(body.toString(), /bare|refs\/heads/)
    }
  })

  await t.test('a name that is a path is answered like a missing repository', async (t) => {
    for (const path of [
      `/ada/..%2fopen.git${REFS}`,
      `/..%2fada/open.git${REFS}`,
      `/ada/%2e%2e${REFS}`,
      `/ada/.git${REFS}`,
      `/ada/open.git.git${REFS}`,
      `/ada/open%00.git${REFS}`,
    ]) {
      t.equal((await ask(path)).status, 401, path)
    }
    t.equal((await ask(`/ada/open%ff.git${REFS}`)).status, 400)
  })

  await t.test('unknown paths are answered with 404 in JSON', async (t) => {
    for (const path of ['/api/x', '/a/b/c', '/a/b/x/y']) {
      const { status, headers, body } = await ask(path)
      t.equal(status, 404)
      t.match(headers['content-type'], /application\/json/)
      t.match(JSON.parse(body.toString()), { message: 'not found', url: /\/api\/swagger$/ })
    }
  })

  await t.test('another method is answered with 405 and the permitted ones', async (t) => {
    const post = await ask(`/ada/open.git${REFS}`, { method: 'POST', body: 'x' })
    t.equal(post.status, 405)
    t.match(post.headers.allow, /GET/)
    const get = await ask('/ada/open.git/git-upload-pack')
    t.equal(get.status, 405)
    t.equal(get.headers.allow, 'POST')
  })
}
