/** Import of Git repositories from another Gatehouse, once and as mirrors. */

import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { request as send } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readMarker } from '../../cgi/repository/marker.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { cloneLfs, lfsCopy, runLfs } from '../helpers/lfs-client.js'
import { faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, until, workersOf } from '../helpers/server-processes.js'
import { FETCH_POST_NUMBER, serveSlowly } from '../helpers/sources.js'
import { newWorkingCopy, type WorkingCopy, writeHistory } from '../helpers/working-copy.js'

const ALLOWED = { GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1', GATEHOUSE_MAINTENANCE_ENABLED: 'true' }
const WITHIN_MS = 60_000

type Fields = Readonly<Record<string, unknown>>

interface Scene {
  readonly there: Gatehouse
  readonly here: Gatehouse
  /** User of the source server, who owns the repositories `open` and `closed`. */
  readonly ada: Person
  /** User of the importing server. */
  readonly bob: Person
  readonly copy: WorkingCopy
}

t.test('repositories are imported from another Gatehouse', async (t) => {
  const there = await startGatehouse(t, { workers: 1 })
  const here = await startGatehouse(t, { workers: 1, environment: ALLOWED })
  const [ada, bob] = [await there.addUser('ada'), await here.addUser('bob')]
  const copy = await newWorkingCopy(t)
  await writeHistory(copy, { commits: 20, branches: 5, tags: 5 })
  await copy.git('tag', '-a', 'release', '-m', 'A release', 'main')
  for (const name of ['open', 'closed']) {
    await makeRepository(ada, name, { private: name === 'closed' })
    await copy.git('push', '--quiet', ada.remote(`ada/${name}.git`), '--all')
    await copy.git('push', '--quiet', ada.remote(`ada/${name}.git`), '--tags')
  }
  const scene = { there, here, ada, bob, copy }
  await taken(t, scene)
  await takenWithLfs(t, scene)
  await mirroredWhole(t, scene)
  await followed(t, scene)
  await pushed(t, scene)
  await abandoned(t, scene)
  await killed(t, scene)
  t.strictSame(await faultsOnDisk(here), [], 'git fsck finds nothing')
})

/** Lists the refs that a server shows, with their objects. */
function referencesAt(address: string): Promise<string> {
  return git(['ls-remote', address], { cwd: '/' })
}

async function taken(t: Test, { there, here, ada, bob }: Scene): Promise<void> {
  const migrate = (fields: Fields) => bob.api('POST', '/repos/migrate', fields)
  const closed = `${there.url}/ada/closed.git`

  await t.test('a public repository is imported, and a private one with a token', async (t) => {
    const open = await migrate({ clone_addr: `${there.url}/ada/open`, repo_name: 'open' })
    t.equal(open.status, 201, JSON.stringify(open.body))
    const body = { clone_addr: closed, repo_name: 'closed', private: true, service: 'gitea' }
    t.equal((await migrate({ ...body, auth_token: ada.token })).status, 201)
    for (const name of ['open', 'closed']) {
      const [theirs, ours] = [ada.remote(`ada/${name}.git`), bob.remote(`bob/${name}.git`)]
      t.equal(await referencesAt(ours), await referencesAt(theirs))
    }
  })

  await t.test('a wiki is imported if the source has one', async (t) => {
    const page = { title: 'Home', content_base64: Buffer.from('text').toString('base64') }
    t.equal((await ada.api('POST', '/repos/ada/closed/wiki/new', page)).status, 201)
    for (const [name, status] of [
      ['closed', 200],
      ['open', 404],
    ] as const) {
      const repo_name = `${name}-with-wiki`
      const source = { clone_addr: `${there.url}/ada/${name}.git`, auth_token: ada.token }
      const made = await migrate({ ...source, repo_name, wiki: true })
      t.equal(made.status, 201, JSON.stringify(made.body))
      const found = await bob.api('GET', `/repos/bob/${repo_name}/wiki/page/Home`)
      t.equal(found.status, status, name)
      if (status === 200) t.match(found.body, page)
    }
    const theirs = await referencesAt(ada.remote('ada/closed.wiki.git'))
    t.equal(await referencesAt(bob.remote('bob/closed-with-wiki.wiki.git')), theirs)
    const folders = await readdir(join(here.dataDir, 'repositories'), { recursive: true })
    const wikis = folders.filter((path) => path.endsWith('.wiki.git'))
    const markers = wikis.map((path) => readMarker(join(here.dataDir, 'repositories', path)))
    t.strictSame(await Promise.all(markers), ['bob/closed-with-wiki.wiki'])
  })

  await t.test(
    'an import of a private repository without valid credentials returns 422',
    async (t) => {
      for (const auth of [{}, { auth_username: 'ada', auth_password: 'wrong' }]) {
        const { status, body } = await migrate({ clone_addr: closed, repo_name: 'r', ...auth })
        t.equal(status, 422)
        t.match(body, { message: /^Authentication failed: / })
      }
    },
  )
}

async function takenWithLfs(t: Test, { there, ada, bob }: Scene): Promise<void> {
  await t.test('the objects of git-lfs are imported with their commits', async (t) => {
    await makeRepository(ada, 'large', { private: true })
    const work = await lfsCopy(t, ada.remote('ada/large.git'))
    const [old, kept] = [randomBytes(200_000), randomBytes(300_000)]
    await work.commit('file.bin', old)
    await work.commit('file.bin', kept)
    const pushed = await runLfs(work, ['push', '--quiet', 'origin', 'main'])
    t.equal(pushed.exitCode, 0, pushed.errorText)
    const source = { clone_addr: `${there.url}/ada/large.git`, auth_token: ada.token }
    for (const [repo_name, lfs] of [
      ['with-lfs', true],
      ['without-lfs', false],
    ] as const) {
      const made = await bob.api('POST', '/repos/migrate', { ...source, repo_name, lfs })
      t.equal(made.status, 201, JSON.stringify(made.body))
      const cloned = await cloneLfs(t, bob.remote(`bob/${repo_name}.git`))
      if (!lfs) {
        t.match(cloned.errorText, /does not have this object|not found/i)
        continue
      }
      t.equal(cloned.exitCode, 0, cloned.errorText)
      t.ok((await readFile(join(cloned.copy.path, 'file.bin'))).equals(kept))
      const back = await runLfs(cloned.copy, ['checkout', '--quiet', 'HEAD~'])
      t.equal(back.exitCode, 0, back.errorText)
      t.ok((await readFile(join(cloned.copy.path, 'file.bin'))).equals(old))
    }
  })
}

async function mirroredWhole(t: Test, { there, here, ada, bob }: Scene): Promise<void> {
  await t.test('updates of a mirror bring its wiki and the new objects of git-lfs', async (t) => {
    await makeRepository(ada, 'whole', { private: true })
    const work = await lfsCopy(t, ada.remote('ada/whole.git'))
    const push = async (bytes: Buffer) => {
      await work.commit('file.bin', bytes)
      const { exitCode, errorText } = await runLfs(work, ['push', '--quiet', 'origin', 'main'])
      t.equal(exitCode, 0, errorText)
    }
    await push(randomBytes(10_000))
    const clone_addr = `${there.url}/ada/whole.git`
    const source = { clone_addr, auth_token: ada.token, mirror: true, lfs: true, wiki: true }
    const made = await bob.api('POST', '/repos/migrate', { ...source, repo_name: 'whole' })
    t.equal(made.status, 201, JSON.stringify(made.body))
    for (const text of ['first', 'second']) {
      const content_base64 = Buffer.from(text).toString('base64')
      const page = { title: 'Home', content_base64 }
      const [method, path] = text === 'first' ? ['POST', 'new'] : ['PATCH', 'page/Home']
      const { status } = await ada.api(method, `/repos/ada/whole/wiki/${path}`, page)
      t.ok(status < 300, `${method} ${status}`)
      const bytes = randomBytes(20_000)
      await push(bytes)
      t.equal((await bob.api('POST', '/repos/bob/whole/mirror-sync')).status, 200)
      const media = `${here.url}/api/v1/repos/bob/whole/media/file.bin`
      const headers = { authorization: `token ${bob.token}` }
      const read = async () => Buffer.from(await (await fetch(media, { headers })).arrayBuffer())
      t.ok((await until(read, (found) => found.equals(bytes), WITHIN_MS)).equals(bytes), text)
      const found = await bob.api('GET', '/repos/bob/whole/wiki/page/Home')
      t.match(found, { status: 200, body: { content_base64 } })
    }
    const own = { title: 'Own', content_base64: '' }
    const refused = await bob.api('POST', '/repos/bob/whole/wiki/new', own)
    t.match(refused, { status: 403, body: { message: /mirror/ } })
  })
}

async function followed(t: Test, { there, ada, bob, copy }: Scene): Promise<void> {
  await t.test('a mirror is synchronized with its token', async (t) => {
    const made = await bob.api('POST', '/repos/migrate', {
      clone_addr: `${there.url}/ada/closed.git`,
      repo_name: 'mirror',
      mirror: true,
      auth_token: ada.token,
      private: true,
    })
    t.match(made, { status: 201, body: { mirror: true, mirror_interval: '8h0m0s' } })
    await copy.commit('news')
    await copy.git('push', '--quiet', ada.remote('ada/closed.git'), 'main', ':branch-1')
    const theirs = await referencesAt(ada.remote('ada/closed.git'))
    t.not(await referencesAt(bob.remote('bob/mirror.git')), theirs)
    t.equal((await bob.api('POST', '/repos/bob/mirror/mirror-sync')).status, 200)
    const ours = await until(
      () => referencesAt(bob.remote('bob/mirror.git')),
      (references) => references === theirs,
      WITHIN_MS,
    )
    t.equal(ours, theirs)
    const push = await copy.try(['push', bob.remote('bob/mirror.git'), 'main:other'])
    t.match(push.errorText, /Git Repository is a mirror\./)
    t.match(push.errorText, /403/)
  })
}

async function pushed(t: Test, { there, ada, bob, copy }: Scene): Promise<void> {
  await t.test('each push to a repository is repeated to its push mirror', async (t) => {
    await makeRepository(ada, 'copy', { private: true })
    await makeRepository(bob, 'work')
    const body = {
      remote_address: `${there.url}/ada/copy.git`,
      interval: '0s',
      sync_on_commit: true,
    }
    const auth = { remote_username: 'ada', remote_password: ada.token }
    const path = '/repos/bob/work/push_mirrors'
    t.equal((await bob.api('POST', path, { ...body, ...auth })).status, 200)
    const denied = await bob.api('POST', path, { ...body, remote_password: 'wrong' })
    const { remote_name: name } = denied.body as { remote_name: string }
    await copy.git('push', '--quiet', bob.remote('bob/work.git'), 'main', 'main:gone', 'release')
    const theirs = () => referencesAt(ada.remote('ada/copy.git'))
    const equal = async () => await until(theirs, (refs) => refs === ours && refs !== '', WITHIN_MS)
    let ours = await referencesAt(bob.remote('bob/work.git'))
    t.equal(await equal(), ours)
    await copy.commit('more')
    await copy.git('push', '--quiet', bob.remote('bob/work.git'), 'main', ':gone')
    ours = await referencesAt(bob.remote('bob/work.git'))
    t.equal(await equal(), ours)
    const read = async () => (await bob.api('GET', `${path}/${name}`)).body as Fields
    const failed = await until(read, (mirror) => mirror['last_error'] !== '', WITHIN_MS)
    t.match(failed, { last_error: /Authentication failed|could not read/ })
  })
}

/** Lists the temporary folders of repositories that are being created. */
async function unfinishedIn({ dataDir }: Gatehouse): Promise<readonly string[]> {
  const top = join(dataDir, 'repositories')
  const stores = await readdir(top)
  const names = await Promise.all(stores.map((store) => readdir(join(top, store))))
  return names.flat().filter((name) => name.includes('.git.'))
}

async function abandoned(t: Test, { there, here, bob }: Scene): Promise<void> {
  await t.test('an import is cancelled if its client disconnects', async (t) => {
    const source = await serveSlowly(t, `${there.url}/ada/open.git`, FETCH_POST_NUMBER)
    const sent = send({
      host: '127.0.0.1',
      port: here.port,
      method: 'POST',
      path: '/api/v1/repos/migrate',
      headers: { authorization: `token ${bob.token}`, 'content-type': 'application/json' },
    })
    sent.on('error', () => {})
    sent.end(JSON.stringify({ clone_addr: source.url, repo_name: 'left' }))
    await source.isReached()
    t.equal((await unfinishedIn(here)).length, 1)
    sent.destroy()
    const left = await until(
      async () => [...(await unfinishedIn(here)), ...(await gitProcessesOf(here.dataDir))],
      (found) => found.length === 0,
      WITHIN_MS,
    )
    t.strictSame(left, [])
    t.equal((await bob.api('GET', '/repos/bob/left')).status, 404)
  })
}

async function killed(t: Test, { there, here, bob }: Scene): Promise<void> {
  await t.test('an import that is killed leaves nothing after the next start', async (t) => {
    const source = await serveSlowly(t, `${there.url}/ada/open.git`, FETCH_POST_NUMBER)
    const body = { clone_addr: source.url, repo_name: 'killed' }
    const migrating = bob.api('POST', '/repos/migrate', body).catch(() => undefined)
    await source.isReached()
    t.equal((await unfinishedIn(here)).length, 1)
    t.ok((await gitProcessesOf(here.dataDir)).length > 0)
    for (const pid of [here.pid, ...(await workersOf(here.pid))]) process.kill(pid, 'SIGKILL')
    await here.stop('SIGKILL')
    t.equal(await migrating, undefined)
    await here.start()
    t.strictSame(await unfinishedIn(here), [], 'no folder is left')
    t.strictSame(await gitProcessesOf(here.dataDir), [], 'no process is left')
    t.equal((await bob.api('GET', '/repos/bob/killed')).status, 404)
    const again = { ...body, clone_addr: `${there.url}/ada/open.git` }
    const { status } = await bob.api('POST', '/repos/migrate', again)
    t.equal(status, 201, 'the name is free again')
  })
}
