/** Authentication and authorization over SSH, with keys of users and deploy keys. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { findUser } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import type { Person } from '../helpers/gatehouse.js'
import { packetLine } from '../helpers/git-requests.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { until } from '../helpers/server-processes.js'
import { converse } from '../helpers/ssh-conversation.js'
import {
  type Caller,
  callSsh,
  type SshGatehouse,
  startSshGatehouse,
} from '../helpers/ssh-gatehouse.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, tryClone } from '../helpers/working-copy.js'

const KEYS = isFullSize ? 100_000 : 1_000
/** Number of lookups that are measured. */
const LOOKUPS = isFullSize ? 200 : 5

interface GatewayWithUsers {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
  readonly bob: Person & Caller
}

t.test('access over SSH', async (t) => {
  const fixture = await startSshGatehouse(t, { workers: 1 })
  const ada = await fixture.addPerson('ada')
  const bob = await fixture.addPerson('bob')
  await makeRepository(ada, 'open', { auto_init: true })
  await makeRepository(ada, 'secret', { auto_init: true, private: true })
  const gateway = { fixture, ada, bob }
  await greetings(t, gateway)
  await kindsOfKeys(t, gateway)
  await unknownKeys(t, gateway)
  await removals(t, gateway)
  await sameness(t, gateway)
  await deployKeys(t, gateway)
  await teamUnits(t, gateway)
  await wikis(t, gateway)
  await offers(t, gateway)
  await lostFolders(t, gateway)
  await manyKeys(t, gateway)
})

const FETCH = (path: string) => `git-upload-pack '${path}'`
const PUSH = (path: string) => `git-receive-pack '${path}'`
/** Input of a client that has read the refs and wants no objects. */
const ENOUGH = { input: '0000' }

/** Runs a command as sshd does after the login with a key, without the time of a login. */
async function serve(
  { account: { uid, gid }, sshd, gatehouse }: SshGatehouse,
  { fingerprint }: Caller,
  command: string,
) {
  const socket = join(gatehouse.dataDir, 'run/ssh.sock')
  const child = spawn(sshd.helper, ['serve', socket, fingerprint], {
    uid,
    gid,
    env: { SSH_ORIGINAL_COMMAND: command },
  })
  // A helper that is refused ends without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(ENOUGH.input)
  const [output, errorText] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exitCode: child.exitCode ?? (await once(child, 'exit'))[0], output, errorText }
}

async function greetings(t: Test, { fixture, ada }: GatewayWithUsers): Promise<void> {
  await t.test(
    'a login without a command prints a greeting with the name and exits with 0',
    async (t) => {
      const { exitCode, output, errorText } = await ada.call()
      t.equal(exitCode, 0)
      t.equal(output, '')
      t.match(errorText, /^Hello ada! Your key works\. [^\n]*no shell\.\n$/)
    },
  )

  await t.test('terminals, port forwarding and subsystems are refused', async (t) => {
    const terminal = await ada.call(undefined, { options: ['-tt'] })
    t.match(terminal.errorText, /PTY allocation request failed/)
    const subsystem = await ada.call('sftp', { options: ['-s'] })
    t.not(subsystem.exitCode, 0)
    const forwarding = ['-L', `127.0.0.1:0:127.0.0.1:${fixture.gatehouse.port}`]
    const refused = await ada.call(undefined, { options: [...forwarding, '-W', '127.0.0.1:1'] })
    t.not(refused.exitCode, 0)
  })
}

async function kindsOfKeys(t: Test, { fixture, bob }: GatewayWithUsers): Promise<void> {
  for (const kind of ['rsa -b 3072', 'ecdsa -b 256', 'ecdsa -b 521', 'ed25519']) {
    await t.test(`a key of the type ${kind} is accepted`, async (t) => {
      const caller = await fixture.newCaller(kind.replaceAll(' ', ''), '-t', ...kind.split(' '))
      await fixture.addKey(bob, caller)
      t.match((await caller.call()).errorText, /^Hello bob!/)
    })
  }
}

async function unknownKeys(t: Test, { fixture }: GatewayWithUsers): Promise<void> {
  await t.test('an unknown key is refused', async (t) => {
    const caller = await fixture.newCaller('unknown')
    const { exitCode, errorText } = await caller.call(FETCH('ada/open'))
    t.equal(exitCode, 255)
    t.match(errorText, /Permission denied \(publickey/)
  })
}

async function removals(t: Test, { fixture, ada, bob }: GatewayWithUsers): Promise<void> {
  await t.test('a removed key is refused', async (t) => {
    const caller = await fixture.newCaller('removed')
    const id = await fixture.addKey(bob, caller)
    t.equal((await caller.call()).exitCode, 0)
    t.equal((await bob.api('DELETE', `/user/keys/${id}`)).status, 204)
    t.match((await caller.call()).errorText, /Permission denied/)
  })

  await t.test('the keys of deleted and disabled users are refused', async (t) => {
    const carl = await fixture.addPerson('carl')
    const dora = await fixture.addPerson('dora')
    for (const person of [carl, dora]) t.equal((await person.call()).exitCode, 0)
    t.equal((await fixture.gatehouse.run('user', 'delete', 'carl')).exitCode, 0)
    await fixture.ask((db) =>
      db('users')
        .whereIn('owner_id', db('owners').where({ name: 'dora' }).select('id'))
        .update({ is_login_prohibited: 1 }),
    )
    for (const person of [carl, dora]) t.match((await person.call()).errorText, /Permission denied/)
  })

  await t.test('a key that is removed after the login is refused at the command', async (t) => {
    const caller = await fixture.newCaller('late')
    const id = await fixture.addKey(bob, caller)
    await bob.api('DELETE', `/user/keys/${id}`)
    const { account, sshd, gatehouse } = fixture
    const socket = `${gatehouse.dataDir}/run/ssh.sock`
    const { stderr, status } = spawnSync(sshd.helper, ['serve', socket, caller.fingerprint], {
      uid: account.uid,
      gid: account.gid,
      env: {},
      encoding: 'utf8',
    })
    t.equal(status, 1)
    t.match(stderr, /does not know this key any more/)
  })

  await t.test('access is checked again before each reply of a running session', async (t) => {
    const list = `${packetLine('command=ls-refs\n')}0001${packetLine('peel\n')}0000`
    const caller = await fixture.newCaller('early')
    const id = await fixture.addKey(bob, caller)
    const first = await converse(fixture, caller, 'ada/open')
    const second = await converse(fixture, bob, 'ada/open')
    for (const { send } of [first, second]) t.match(await send(list, /0000$/), 'refs/heads/main')
    await bob.api('DELETE', `/user/keys/${id}`)
    first.client.stdin.write(list)
    t.equal(await first.ended, 1)
    t.match(first.errorText(), /does not know this key any more/)
    await ada.api('PATCH', '/repos/ada/open', { private: true })
    const before = second.output()
    second.client.stdin.write(list)
    t.equal(await second.ended, 1)
    t.match(second.errorText(), /There is no repository ada\/open/)
    t.equal(second.output(), before)
    await ada.api('PATCH', '/repos/ada/open', { private: false })
  })

  await t.test('a repository that becomes private is hidden from others immediately', async (t) => {
    t.equal((await bob.call(FETCH('ada/open'), ENOUGH)).exitCode, 0)
    await ada.api('PATCH', '/repos/ada/open', { private: true })
    t.match((await bob.call(FETCH('ada/open'), ENOUGH)).errorText, /There is no repository/)
    await ada.api('PATCH', '/repos/ada/open', { private: false })
  })
}

async function sameness(t: Test, { fixture, bob }: GatewayWithUsers): Promise<void> {
  await t.test('private and missing repositories get the same reply', async (t) => {
    for (const command of [FETCH, PUSH]) {
      const ofPrivate = await serve(fixture, bob, command('ada/secret'))
      const ofMissing = await serve(fixture, bob, command('ada/nowhere'))
      const ofNobody = await serve(fixture, bob, command('nobody/secret'))
      t.equal(ofPrivate.exitCode, 1)
      t.equal(ofPrivate.output, '')
      t.equal(ofPrivate.errorText.split('\n').length, 2, 'the error is one line')
      for (const other of [ofMissing, ofNobody]) {
        const errorText = other.errorText.replace(/\w+\/\w+/, 'ada/secret')
        t.same({ ...other, errorText }, ofPrivate)
      }
    }
    const forbidden = await serve(fixture, bob, PUSH('ada/open'))
    t.match(forbidden.errorText, 'There is no repository ada/open that this key may push to.')
    t.equal(forbidden.exitCode, 1)
  })
}

async function deployKeys(t: Test, { fixture, ada, bob }: GatewayWithUsers): Promise<void> {
  const add = async (repository: string, caller: Caller, isReadOnly: boolean) => {
    const input = { title: caller.fingerprint, key: caller.publicKey, read_only: isReadOnly }
    return await ada.api('POST', `/repos/${repository}/keys`, input)
  }

  await t.test('a deploy key reads only its repository, and no other public one', async (t) => {
    const robot = await fixture.newCaller('robot')
    t.equal((await add('ada/secret', robot, true)).status, 201)
    t.match((await robot.call()).errorText, /^Hello! This deploy key works\./)
    t.equal((await serve(fixture, robot, FETCH('ada/secret'))).exitCode, 0)
    t.match((await serve(fixture, robot, PUSH('ada/secret'))).errorText, /no repository/)
    t.match((await serve(fixture, robot, FETCH('ada/open'))).errorText, /no repository/)
  })

  await t.test('a push with a writable deploy key succeeds and is logged', async (t) => {
    const robot = await fixture.newCaller('writer')
    const { body } = await add('ada/secret', robot, false)
    const copy = await newWorkingCopy(t)
    await copy.commit('by-a-robot')
    const words = ['push', fixture.remote('ada/secret'), 'main:refs/heads/robot']
    const { exitCode, errorText } = await copy.try(words, robot)
    t.equal(exitCode, 0, errorText)
    const [line] = await fixture.logged({ event: 'ssh-session', key: robot.fingerprint })
    t.match(line, { name: 'deploy key', verb: 'git-receive-pack', repository: 'ada/secret' })
    const { id } = body as { id: number }
    t.equal((await ada.api('DELETE', `/repos/ada/secret/keys/${id}`)).status, 204)
    t.match((await robot.call()).errorText, /Permission denied/)
  })

  await t.test('one deploy key has separate permissions in several repositories', async (t) => {
    const robot = await fixture.newCaller('shared')
    await add('ada/secret', robot, true)
    await add('ada/open', robot, false)
    t.match((await serve(fixture, robot, PUSH('ada/secret'))).errorText, /no repository/)
    t.equal((await serve(fixture, robot, PUSH('ada/open'))).exitCode, 0)
  })

  await t.test('a deploy key is refused after its repository is deleted', async (t) => {
    await makeRepository(ada, 'short')
    const robot = await fixture.newCaller('short')
    await add('ada/short', robot, true)
    t.equal((await robot.call()).exitCode, 0)
    await ada.api('DELETE', '/repos/ada/short')
    t.match((await robot.call()).errorText, /Permission denied/)
  })

  await t.test("a user's key cannot be added as a deploy key", async (t) => {
    t.equal((await add('ada/secret', bob, false)).status, 422)
    t.match((await serve(fixture, bob, FETCH('ada/secret'))).errorText, /no repository/)
  })
}

async function teamUnits(t: Test, { fixture, ada, bob }: GatewayWithUsers): Promise<void> {
  await t.test('a team fetches and pushes by its unit code', async (t) => {
    await ada.api('POST', '/orgs', { username: 'guild' })
    await makeRepository(ada, 'inner', { auto_init: true, private: true, organization: 'guild' })
    const team = { name: 'testers', includes_all_repositories: true, units: ['repo.issues'] }
    const { id } = (await ada.api('POST', '/orgs/guild/teams', team)).body as { id: number }
    await ada.api('PUT', `/teams/${id}/members/bob`)
    for (const [code, fetched, pushed] of [
      ['none', 1, 1],
      ['read', 0, 1],
      ['write', 0, 0],
    ] as const) {
      const units = { 'repo.issues': 'write', 'repo.code': code }
      await ada.api('PATCH', `/teams/${id}`, { units_map: units })
      t.equal((await serve(fixture, bob, FETCH('guild/inner'))).exitCode, fetched, code)
      t.equal((await serve(fixture, bob, PUSH('guild/inner'))).exitCode, pushed, code)
    }
  })
}

async function wikis(t: Test, { fixture, ada, bob }: GatewayWithUsers): Promise<void> {
  await t.test('the first push creates a wiki, which is cloned over SSH and HTTPS', async (t) => {
    await makeRepository(ada, 'book')
    t.match(await serve(fixture, ada, FETCH('ada/book.wiki')), {
      exitCode: 1,
      errorText: 'There is no repository ada/book.wiki that this key may read.\n',
    })
    t.not((await tryClone(t, ada.remote('ada/book.wiki'))).exitCode, 0, 'nothing to clone')
    const copy = await newWorkingCopy(t)
    await copy.commit('Home.md', 'first\n')
    const pushed = await copy.try(['push', fixture.remote('ada/book.wiki'), 'main'], ada)
    t.equal(pushed.exitCode, 0, pushed.errorText)
    const second = await cloneInto(t, bob.remote('ada/book.wiki'))
    t.equal(await readFile(`${second.path}/Home.md`, 'utf8'), 'first\n')
    await copy.commit('Home.md', 'second\n')
    await copy.git('push', '--quiet', ada.remote('ada/book.wiki'), 'main')
    const pulled = await second.try(['pull', fixture.remote('ada/book.wiki'), 'main'], bob)
    t.equal(pulled.exitCode, 0, pulled.errorText)
    t.equal(await readFile(`${second.path}/Home.md`, 'utf8'), 'second\n')
    t.match((await serve(fixture, bob, PUSH('ada/book.wiki'))).errorText, /no repository/)
    t.not((await copy.try(['push', bob.remote('ada/book.wiki'), 'main:x'])).exitCode, 0)
    const { body } = await ada.api('GET', '/repos/ada/book')
    t.match(body, { empty: true, has_wiki: true }, 'the repository itself stays empty')
  })

  await t.test('a wiki of a private repository looks like one of a missing one', async (t) => {
    for (const command of [FETCH, PUSH]) {
      const ofPrivate = await serve(fixture, bob, command('ada/secret.wiki'))
      const ofMissing = await serve(fixture, bob, command('ada/nowhere.wiki'))
      const errorText = ofMissing.errorText.replace('nowhere', 'secret')
      t.same({ ...ofMissing, errorText }, ofPrivate)
    }
  })

  await t.test('a wiki follows its repository, and is hidden while it is disabled', async (t) => {
    const folders = async () =>
      (await repositoriesIn(fixture.gatehouse.dataDir)).filter((path) => path.endsWith('.wiki.git'))
    await ada.api('PATCH', '/repos/ada/book', { has_wiki: false })
    t.match((await serve(fixture, ada, FETCH('ada/book.wiki'))).errorText, /no repository/)
    t.not((await tryClone(t, ada.remote('ada/book.wiki'))).exitCode, 0)
    await ada.api('PATCH', '/repos/ada/book', { has_wiki: true, name: 'novel' })
    for (const path of ['ada/book.wiki', 'ada/novel.wiki']) {
      const copy = await cloneInto(t, ada.remote(path))
      t.equal(await readFile(`${copy.path}/Home.md`, 'utf8'), 'second\n')
      t.equal((await serve(fixture, ada, FETCH(path))).exitCode, 0)
    }
    t.equal((await folders()).length, 1)
    t.equal((await ada.api('DELETE', '/repos/ada/novel')).status, 204)
    t.strictSame(await folders(), [])
  })

  await t.test('a team clones and pushes a wiki by its unit wiki', async (t) => {
    const { body } = await ada.api('GET', '/orgs/guild/teams/search?q=testers')
    const [{ id }] = (body as { data: [{ id: number }] }).data
    for (const [wiki, fetched, pushed] of [
      ['none', 1, 1],
      ['write', 0, 0],
      ['read', 0, 1],
    ] as const) {
      const units = { 'repo.code': 'write', 'repo.wiki': wiki }
      await ada.api('PATCH', `/teams/${id}`, { units_map: units })
      t.equal((await serve(fixture, bob, PUSH('guild/inner.wiki'))).exitCode, pushed, wiki)
      t.equal((await serve(fixture, bob, FETCH('guild/inner.wiki'))).exitCode, fetched, wiki)
    }
  })
}

async function lostFolders(t: Test, { fixture, ada }: GatewayWithUsers): Promise<void> {
  await t.test('a repository whose folder is missing is reported as unavailable', async (t) => {
    const before = await repositoriesIn(fixture.gatehouse.dataDir)
    await makeRepository(ada, 'lost', { auto_init: true })
    const after = await repositoriesIn(fixture.gatehouse.dataDir)
    await rm(after.find((path) => !before.includes(path)) ?? '', { recursive: true })
    for (const command of [FETCH, PUSH]) {
      const { exitCode, errorText } = await serve(fixture, ada, command('ada/lost'))
      t.equal(exitCode, 1)
      t.match(errorText, /stored data of this repository is missing on the server/)
    }
    const missing = /the folder \S+ does not exist/
    t.match(await fixture.gatehouse.logMatching(missing), missing)
    t.equal((await serve(fixture, ada, FETCH('ada/open'))).exitCode, 0)
  })
}

async function offers(t: Test, { fixture, bob }: GatewayWithUsers): Promise<void> {
  await t.test("offering another user's public key does not count as its use", async (t) => {
    const victim = await fixture.addPerson('victim')
    const lastUse = () =>
      fixture.ask((db) => db('ssh_keys').where({ fingerprint: victim.fingerprint }).first())
    // A client can offer a key with its public half alone; the private half here is bob's.
    const borrowed = `${victim.keyFile}-borrowed`
    await writeFile(`${borrowed}.pub`, victim.publicKey)
    await copyFile(bob.keyFile, borrowed)
    const { errorText } = await callSsh(fixture.sshd, {
      keyFile: borrowed,
      options: ['-i', bob.keyFile, '-v'],
    })
    t.match(errorText, victim.fingerprint, 'the key was offered')
    t.match(errorText, /Hello bob!/)
    t.equal((await lastUse()).last_used_at, null)
    t.notMatch(fixture.gatehouse.log(), victim.fingerprint)
    await victim.call()
    t.not((await until(lastUse, (row) => row.last_used_at !== null, 60_000)).last_used_at, null)
  })
}

async function manyKeys(t: Test, { fixture, ada }: GatewayWithUsers): Promise<void> {
  // sshd runs the lookup twice at every login.
  await t.test('a key is found among very many, and an unknown one is not', async (t) => {
    const unknown = await fixture.newCaller('not-among-many')
    const emptyMs = measureLookups(fixture, ada)
    await fixture.ask((db) => addKeys(db, KEYS))
    const fullMs = measureLookups(fixture, ada)
    const line = lookUp(fixture, ada)
    t.match(line, /^restrict,command="/)
    t.ok(line.includes(` ${ada.fingerprint}" ${ada.publicKey.split(' ', 2).join(' ')}`), line)
    t.equal(lookUp(fixture, unknown), '')
    t.comment(`p95 of lookups: ${emptyMs} ms with few keys, ${fullMs} ms with ${KEYS}`)
  })
}

/** Returns the helper's output for a key. */
function lookUp({ sshd, gatehouse }: SshGatehouse, { publicKey }: Caller): string {
  const [type = '', key = ''] = publicKey.split(' ')
  const socket = join(gatehouse.dataDir, 'run/ssh.sock')
  return execFileSync(sshd.helper, ['keys', socket, type, key], { encoding: 'utf8' })
}

/** Measures the 95th percentile of lookups in ms, including the start of the helper. */
function measureLookups(fixture: SshGatehouse, caller: Caller): string {
  const times: number[] = []
  for (let count = 0; count < LOOKUPS; count += 1) {
    const startedAt = performance.now()
    lookUp(fixture, caller)
    times.push(performance.now() - startedAt)
  }
  times.sort((one, other) => one - other)
  return (times[Math.floor(LOOKUPS * 0.95)] ?? 0).toFixed(1)
}

/** Inserts keys as the API would store them, in one transaction. */
async function addKeys(db: Database, count: number): Promise<void> {
  const user = await findUser(db, 'ada')
  const head = Buffer.concat([lengthOf(11), Buffer.from('ssh-ed25519'), lengthOf(32)])
  const rows = Array.from({ length: count }, (_, number) => {
    const blob = Buffer.concat([head, randomBytes(32)])
    const digest = createHash('sha256').update(blob).digest('base64').replace('=', '')
    return {
      fingerprint: `SHA256:${digest}`,
      algorithm: 'ssh-ed25519',
      base64: blob.toString('base64'),
      user_id: user?.id,
      title: `key ${number}`,
      comment: '',
      created_at: Date.now(),
      last_used_at: null,
    }
  })
  await db.transaction(async (trx) => trx.batchInsert('ssh_keys', rows, 100))
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes)
  return length
}
