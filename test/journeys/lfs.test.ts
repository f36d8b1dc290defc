/** Git LFS with the real git-lfs, over HTTPS and SSH: objects, tickets and locks. */

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { setOwnQuota } from '../../sql/packages/owner-settings.js'
import { askApi, type Person } from '../helpers/gatehouse.js'
import { cloneLfs, installLfs, lfsCopy, runLfs } from '../helpers/lfs-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { withPassword } from '../helpers/requests.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'

const tokenOf = ({ token }: Person) => `token ${token}`
const oidOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const fixture: SshGatehouse = await startSshGatehouse(t, { workers: 1 })
const { gatehouse } = fixture
const ada = await fixture.addPerson('ada')
const bob = await fixture.addPerson('bob')

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

async function pushed(t: Teardown, person: Person, name: string, isPrivate = true) {
  await makeRepository(person, name, { private: isPrivate })
  const path = `${person.name}/${name}.git`
  const copy = await lfsCopy(t, person.remote(path))
  const bytes = randomBytes(300_000)
  await copy.commit('large.bin', bytes)
  const { exitCode, errorText } = await runLfs(copy, ['push', '--quiet', 'origin', 'main'])
  if (exitCode !== 0) throw new Error(errorText)
  return { copy, bytes, path, oid: oidOf(bytes) }
}

/** Creates a repository without commits, in which an object is stored. */
async function stored(person: Person, name: string) {
  await makeRepository(person, name, { private: true })
  const path = `${person.name}/${name}.git`
  const bytes = randomBytes(1_000)
  const oid = oidOf(bytes)
  const { status } = await fetch(`${gatehouse.url}/${path}/info/lfs/objects/${oid}/1000`, {
    method: 'PUT',
    headers: { authorization: tokenOf(person) },
    body: bytes,
  })
  if (status !== 200) throw new Error(`the upload was answered ${status}`)
  return { path, oid }
}

/** Repositories of tests that do not change their objects: `closed` is private. */
const closed = await pushed(t, ada, 'closed')
const open = await pushed(t, ada, 'open', false)

interface Asked {
  readonly method?: string
  readonly body?: unknown
  readonly authorization?: string
}

/** Sends a request below the address of Git LFS of a repository. */
async function askLfs(path: string, below: string, { method, body, authorization }: Asked = {}) {
  const response = await fetch(`${gatehouse.url}/${path}/info/lfs/${below}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      'content-type': 'application/vnd.git-lfs+json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
}

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
function jsonOf(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

await t.test('a push and a clone over HTTPS transfer the objects', async (t) => {
  const { bytes, path } = closed
  const { copy, exitCode, errorText } = await cloneLfs(t, ada.remote(path))
  t.equal(exitCode, 0, errorText)
  t.ok((await readFile(join(copy.path, 'large.bin'))).equals(bytes))
  t.match(await copy.git('cat-file', 'blob', 'HEAD:large.bin'), /^version https:\/\/git-lfs/)
})

await t.test(
  'media and pictures send the object of a pointer, raw the pointer, and contents describes it',
  async (t) => {
    const { copy, bytes, oid } = open
    const read = async (below: string) => {
      const response = await fetch(`${gatehouse.url}/${below}`)
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    for (const place of ['api/v1/repos/ada/open/media', 'ada/open/media/branch/main']) {
      t.ok((await read(`${place}/large.bin`)).bytes.equals(bytes), place)
      t.match(String((await read(`${place}/.gitattributes`)).bytes), /filter=lfs/)
    }
    const contents = (file: string) => ada.api('GET', `/repos/ada/open/contents/${file}`)
    t.match(await contents('large.bin'), { body: { lfs_oid: oid, lfs_size: 300_000 } })
    t.notMatch((await contents('.gitattributes')).body, { lfs_oid: String })
    const raw = await read('ada/open/raw/branch/main/large.bin')
    t.match(String(raw.bytes), /^version https:\/\/git-lfs/)
    const page = await read('ada/open/src/branch/main/large.bin')
    t.match(String(page.bytes), /stored with Git LFS, 293\.0 KiB\..*\/media\/branch\/main\/large/)
    await copy.commit('README.md', Buffer.from('![picture](large.bin)'))
    t.equal((await runLfs(copy, ['push', '--quiet', 'origin', 'main'])).exitCode, 0)
    const shown = /<img [^>]*src="([^"]+)"/.exec(String((await read('ada/open')).bytes))?.[1] ?? ''
    const picture = await fetch(new URL(shown, gatehouse.url))
    t.ok(Buffer.from(await picture.arrayBuffer()).equals(bytes), shown)
  },
)

await t.test('a second push of the same objects uploads none', async (t) => {
  const { copy, oid, path } = closed
  const batch = { operation: 'upload', objects: [{ oid, size: 300_000 }] }
  const { json } = await askLfs(path, 'objects/batch', { body: batch, authorization: tokenOf(ada) })
  t.strictSame(json.objects, batch.objects)
  await rm(join(copy.path, '.git/lfs/cache'), { recursive: true, force: true })
  const { errorText } = await runLfs(copy, ['lfs', 'push', '--all', 'origin'], { GIT_TRACE: '1' })
  t.notMatch(errorText, /HTTP: PUT/)
})

await t.test(
  'a clone without smudge has the pointer, and git-lfs resumes a cut download',
  async (t) => {
    const { oid, path, bytes } = closed
    const response = await fetch(`${gatehouse.url}/${path}/info/lfs/objects/${oid}`, {
      headers: { authorization: tokenOf(ada), range: 'bytes=299990-' },
    })
    t.equal(response.status, 206)
    t.equal(response.headers.get('etag'), `"${oid}"`)
    t.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(299_990)))
    const { copy } = await cloneLfs(t, ada.remote(path), { GIT_LFS_SKIP_SMUDGE: '1' })
    const file = join(copy.path, 'large.bin')
    t.match(await readFile(file, 'utf8'), /^version https:\/\/git-lfs/)
    const incomplete = join(copy.path, '.git/lfs/incomplete')
    await mkdir(incomplete, { recursive: true })
    await writeFile(join(incomplete, `${oid}.part`), bytes.subarray(0, 200_000))
    const pulled = await runLfs(copy, ['lfs', 'pull'], { GIT_TRACE: '1' })
    t.equal(pulled.exitCode, 0, pulled.errorText)
    t.match(pulled.errorText, /server accepted resume download request: "\w+" from byte 200000/)
    t.ok((await readFile(file)).equals(bytes))
  },
)

await t.test('git-lfs shows the quota, and uploads nothing beyond it', async (t) => {
  const { copy, path } = await pushed(t, bob, 'limited')
  await fixture.ask(async (db) => {
    const { id } = await db('owners').where({ name: 'bob' }).first('id')
    await setOwnQuota(db, id, { lfsBytesMax: 600_000 })
  })
  for (const name of ['second', 'third']) await copy.commit(`${name}.bin`, randomBytes(200_000))
  const refused = await runLfs(copy, ['push', 'origin', 'main'], { GIT_TRACE: '1' })
  t.not(refused.exitCode, 0)
  t.match(refused.errorText, /These objects of 400000 bytes would exceed the quota of 600000 bytes/)
  t.notMatch(refused.errorText, /HTTP: PUT/)
  await fixture.ask((db) => db('package_owner_settings').delete())
  const push = await runLfs(copy, ['push', '--quiet', 'origin', 'main'])
  t.equal(push.exitCode, 0, push.errorText)
  t.equal((await cloneLfs(t, bob.remote(path))).exitCode, 0)
})

await t.test('a public repository serves its objects without credentials', async (t) => {
  const { bytes, path, oid } = open
  const { copy, exitCode, errorText } = await cloneLfs(t, `${gatehouse.url}/${path}`)
  t.equal(exitCode, 0, errorText)
  t.ok((await readFile(join(copy.path, 'large.bin'))).equals(bytes))
  const body = { operation: 'upload', objects: [{ oid, size: 1 }] }
  const refused = await askLfs(path, 'objects/batch', { body })
  t.equal(refused.status, 401)
  for (const name of ['www-authenticate', 'lfs-authenticate']) {
    t.equal(refused.headers.get(name), 'Basic realm="Gatehouse"', name)
  }
})

await t.test('a private repository looks like a missing one', async (t) => {
  const { path, oid } = closed
  const batch = { operation: 'download', objects: [{ oid, size: 300_000 }] }
  const requests: ReadonlyArray<readonly [string, Asked]> = [
    ['objects/batch', { body: batch }],
    ['objects/batch', { body: { ...batch, operation: 'upload' } }],
    ['objects/batch', { body: 'x' }],
    [`objects/${oid}`, {}],
    [`objects/${oid}/1`, { method: 'PUT', body: 'x' }],
    ['verify', { body: { oid, size: 1 } }],
    ['locks', {}],
    ['locks', { body: { path: 'x' } }],
    ['locks/verify', { body: {} }],
    ['locks/1/unlock', { body: {} }],
  ]
  for (const authorization of [undefined, tokenOf(bob)]) {
    for (const [below, asked] of requests) {
      const sent = authorization === undefined ? asked : { ...asked, authorization }
      const [hidden, missing] = [
        await askLfs(path, below, sent),
        await askLfs('ada/missing.git', below, sent),
      ]
      t.equal(hidden.status, authorization === undefined ? 401 : 404, below)
      t.equal(hidden.status, missing.status)
      t.equal(hidden.json.message, missing.json.message)
    }
  }
  const { exitCode, errorText } = await cloneLfs(t, bob.remote(path))
  t.not(exitCode, 0)
  t.match(errorText, /not found/)
})

await t.test(
  'a fork has the objects of its parent, also after the parent is deleted',
  async (t) => {
    const { bytes } = await pushed(t, ada, 'parent', false)
    const forked = await bob.api('POST', '/repos/ada/parent/forks', { name: 'child' })
    t.equal(forked.status, 202)
    t.equal((await ada.api('DELETE', '/repos/ada/parent')).status, 204)
    const { copy, exitCode, errorText } = await cloneLfs(t, bob.remote('bob/child.git'))
    t.equal(exitCode, 0, errorText)
    t.ok((await readFile(join(copy.path, 'large.bin'))).equals(bytes))
  },
)

await t.test('a pull request from a fork brings the objects of its commits', async (t) => {
  const { bytes } = await pushed(t, ada, 'base', false)
  t.equal((await bob.api('POST', '/repos/ada/base/forks', { name: 'head' })).status, 202)
  const { copy } = await cloneLfs(t, bob.remote('bob/head.git'))
  await installLfs(copy)
  const added = randomBytes(2_000)
  for (const [branch, content] of [
    ['change', added],
    ['other', randomBytes(3_000)],
  ] as const) {
    await copy.git('checkout', '--quiet', '-b', branch, 'origin/main')
    await copy.commit('added.bin', content)
    const push = await runLfs(copy, ['push', '--quiet', 'origin', branch])
    t.equal(push.exitCode, 0, push.errorText)
  }
  const input = { title: 'Add', head: 'bob:change', base: 'main' }
  t.equal((await bob.api('POST', '/repos/ada/base/pulls', input)).status, 201)
  const later = randomBytes(2_500)
  await copy.git('checkout', '--quiet', 'change')
  await copy.commit('later.bin', later)
  t.equal((await runLfs(copy, ['push', '--quiet', 'origin', 'change'])).exitCode, 0)
  const merged = await ada.api('POST', '/repos/ada/base/pulls/1/merge', { Do: 'merge' })
  t.equal(merged.status, 200)
  const clone = await cloneLfs(t, `${gatehouse.url}/ada/base.git`)
  t.equal(clone.exitCode, 0, clone.errorText)
  for (const [name, content] of Object.entries({ large: bytes, added, later })) {
    t.ok((await readFile(join(clone.copy.path, `${name}.bin`))).equals(content), name)
  }
  const other = await copy.git('show', 'other:added.bin')
  const oid = /sha256:(\w+)/.exec(other)?.[1] ?? ''
  t.equal((await askLfs('ada/base.git', `objects/${oid}`)).status, 404, 'and no others')
})

await t.test('a token without write scope downloads, and does not upload', async (t) => {
  const { path, oid } = closed
  const made = await askApi(gatehouse.port, {
    method: 'POST',
    path: '/users/ada/tokens',
    body: { name: 'reader', scopes: ['read:repository'] },
    authorization: withPassword('ada', ada.password),
  })
  t.equal(made.status, 201)
  const authorization = `token ${(made.body as { readonly sha1: string }).sha1}`
  const objects = [{ oid, size: 300_000 }]
  const ask = (operation: string) =>
    askLfs(path, 'objects/batch', { authorization, body: { operation, objects } })
  const { json } = await ask('download')
  const { href, header } = json.objects[0].actions.download
  const ticket = header.Authorization
  t.equal((await fetch(href, { headers: { authorization: ticket } })).status, 200)
  t.equal((await ask('upload')).status, 401)
  const put = await askLfs(path, `objects/${oid}/1`, { method: 'PUT', authorization: ticket })
  t.equal(put.status, 401, 'the ticket has the scopes of its token')
})

await sshTransfers()
await tickets()
await locks()

async function sshTransfers(): Promise<void> {
  await t.test('a push and a clone over SSH transfer the objects with a ticket', async (t) => {
    const name = await makeRepository(ada, 'over-ssh', { private: true })
    const copy = await lfsCopy(t, fixture.remote(name))
    const bytes = randomBytes(50_000)
    await copy.commit('large.bin', bytes)
    const push = await runLfs(copy, ['push', '--quiet', 'origin', 'main'], ada.environment)
    t.equal(push.exitCode, 0, push.errorText)
    const clone = await cloneLfs(t, fixture.remote(name), ada.environment)
    t.equal(clone.exitCode, 0, clone.errorText)
    t.ok((await readFile(join(clone.copy.path, 'large.bin'))).equals(bytes))
    t.notMatch(gatehouse.log(), /"event":"ssh-refused"/, 'git-lfs-transfer is refused silently')
  })

  await t.test('a deploy key that may only read gets no ticket for an upload', async (t) => {
    const { path, bytes } = closed
    const machine = await fixture.newCaller('machine')
    const input = { title: 'ci', key: machine.publicKey, read_only: true }
    t.equal((await ada.api('POST', '/repos/ada/closed/keys', input)).status, 201)
    const clone = await cloneLfs(t, fixture.remote('ada/closed'), machine.environment)
    t.equal(clone.exitCode, 0, clone.errorText)
    t.ok((await readFile(join(clone.copy.path, 'large.bin'))).equals(bytes))
    const call = (words: string, caller: Caller = machine) =>
      caller.call(`git-lfs-authenticate ${words}`)
    t.equal((await call(`${path} download`)).exitCode, 0)
    const refusals = [
      await call(`${path} upload`),
      await call('ada/over-ssh.git download'),
      await call('ada/missing.git download'),
      await call(`${path} download`, bob),
    ]
    for (const { exitCode, output, errorText } of refusals) {
      t.not(exitCode, 0)
      t.equal(output, '')
      t.match(errorText, /There is no repository .* that this key may (?:read|push to)/)
    }
  })
}

/** Returns the Authorization header of a ticket over SSH. */
async function sshTicket(caller: Caller, words: string): Promise<string> {
  const { output } = await caller.call(`git-lfs-authenticate ${words}`)
  return jsonOf(output).header.Authorization
}

async function tickets(): Promise<void> {
  await t.test('a ticket is valid for its repository and operation only', async (t) => {
    const first = closed
    const second = await stored(ada, 'second')
    const down = await sshTicket(ada, `${first.path} download`)
    const up = await sshTicket(ada, `${first.path} upload`)
    const get = (path: string, oid: string, authorization: string) =>
      askLfs(path, `objects/${oid}`, { authorization })
    t.equal((await get(first.path, first.oid, down)).status, 200)
    t.equal((await get(first.path, first.oid, up)).status, 200)
    t.equal((await get(second.path, second.oid, up)).status, 404)
    const lock = await askLfs(first.path, 'locks', { authorization: down, body: { path: 'x' } })
    t.equal(lock.status, 403)
    const objects = [{ oid: 'a'.repeat(64), size: 1 }]
    const body = { operation: 'upload', objects }
    const ask = (authorization: string) =>
      askLfs(first.path, 'objects/batch', { authorization, body })
    t.equal((await ask(down)).status, 403)
    const { json } = await ask(up)
    const { header } = json.objects[0].actions.upload
    t.equal(header.Authorization, up, 'a ticket makes no other that is valid for longer')
    t.equal((await get(first.path, first.oid, `${up.slice(0, -4)}AAAA`)).status, 401)
    const elsewhere = await fetch(`${gatehouse.url}/api/v1/user`, {
      headers: { authorization: up },
    })
    t.equal(elsewhere.status, 401)
  })

  await t.test('a ticket ends with the key or token that it was made for', async (t) => {
    const { path, oid } = await stored(bob, 'revoked')
    const second = await fixture.newCaller('second')
    const id = await fixture.addKey(bob, second)
    const ticket = await sshTicket(second, `${path} download`)
    const get = (authorization: string) => askLfs(path, `objects/${oid}`, { authorization })
    t.equal((await get(ticket)).status, 200)
    t.equal((await bob.api('DELETE', `/user/keys/${id}`)).status, 204)
    t.equal((await get(ticket)).status, 401)
  })
}

async function locks(): Promise<void> {
  await t.test('a locked file is unlocked by its owner, or by an administrator', async (t) => {
    const { copy, path } = await pushed(t, ada, 'locked')
    const added = await ada.api('PUT', '/repos/ada/locked/collaborators/bob', {
      permission: 'write',
    })
    t.equal(added.status, 204)
    const { copy: bobs } = await cloneLfs(t, bob.remote(path))
    await installLfs(bobs)
    const locked = await runLfs(bobs, ['lfs', 'lock', 'large.bin'])
    t.match(locked.output, /Locked large\.bin/, locked.errorText)
    t.match((await runLfs(copy, ['lfs', 'locks'])).output, /large\.bin\s+bob\s+ID:/)
    const again = await runLfs(copy, ['lfs', 'lock', 'large.bin'])
    t.match(again.errorText + again.output, /bob has locked the file already/)

    await copy.commit('large.bin', randomBytes(1_000))
    const push = await runLfs(copy, ['push', 'origin', 'main'])
    t.match(push.errorText, /would have halted this push/)

    const gentle = await runLfs(copy, ['lfs', 'unlock', 'large.bin'])
    t.match(gentle.errorText + gentle.output, /The lock is bob's/)
    const forced = await runLfs(copy, ['lfs', 'unlock', '--force', 'large.bin'])
    t.match(forced.output, /Unlocked large\.bin/, forced.errorText)
    t.equal((await runLfs(copy, ['lfs', 'lock', 'large.bin'])).exitCode, 0)
    const bobsForce = await runLfs(bobs, ['lfs', 'unlock', '--force', 'large.bin'])
    t.not(bobsForce.exitCode, 0, 'a writer cannot remove the lock of an administrator')
    t.equal((await runLfs(copy, ['lfs', 'unlock', 'large.bin'])).exitCode, 0)
  })

  await t.test('locks are listed in pages', async (t) => {
    const path = `${await makeRepository(ada, 'pages')}.git`
    const authorization = tokenOf(ada)
    for (const name of ['a', 'b', 'c']) {
      const { status } = await askLfs(path, 'locks', { authorization, body: { path: name } })
      t.equal(status, 201)
    }
    const page = await askLfs(path, 'locks/verify', { authorization, body: { limit: 2 } })
    t.match(page.json, { ours: [{ path: 'a' }, { path: 'b' }], theirs: [] })
    const cursor = page.json.next_cursor
    const last = await askLfs(path, `locks?limit=2&cursor=${cursor}`, { authorization })
    t.match(last.json, { locks: [{ path: 'c' }], next_cursor: undefined })
    const named = await askLfs(path, 'locks?path=b', { authorization })
    t.equal(named.json.locks.length, 1)
    t.match(named.json.locks[0], { path: 'b', owner: { name: 'ada' } })
  })
}
