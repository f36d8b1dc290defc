/** Clones and fetches of every kind over SSH, through the real sshd, and its connections. */

import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Person } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { countPackCache, untilAllCached } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  type Caller,
  callSsh,
  type SshGatehouse,
  startSshGatehouse,
} from '../helpers/ssh-gatehouse.js'
import { startSshd } from '../helpers/sshd.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import {
  newWorkingCopy,
  type WorkingCopy,
  workingCopyAt,
  writeHistory,
} from '../helpers/working-copy.js'

const COMMITS = 20
/** Number of clients: sshd drops logins by default if more than ten are not authenticated yet. */
const CLIENTS = isFullSize ? 100 : 24

interface Library {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
  readonly origin: WorkingCopy
}

t.test('clones and fetches over SSH succeed', async (t) => {
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    // On a slow machine, a client of many may wait for longer than the default.
    environment: { GATEHOUSE_GIT_QUEUE_TIMEOUT: '10m' },
  })
  const ada = await fixture.addPerson('ada')
  const repository = await makeRepository(ada, 'library')
  const origin = await newWorkingCopy(t)
  await writeHistory(origin, { commits: COMMITS, branches: 2, tags: 2 })
  await origin.git('push', '--quiet', '--mirror', ada.remote(`${repository}.git`))
  const library: Library = { fixture, ada, origin }
  await protocols(t, library)
  await kindsOfClones(t, library)
  await laterFetches(t, library)
  await cacheHits(t, library)
  await addresses(t, library)
  await organizations(t, library)
  await audit(t, library)
  await fleets(t, library)
  await authorizedKeys(t, library)
})

/** Runs git with a caller's key in a temporary folder; returns the result and the clone. */
async function tryWith(t: Test, { environment }: Caller, args: readonly string[]) {
  const folder = await temporaryFolder(t)
  const trace = { ...environment, GIT_TRACE_PACKET: '1' }
  const { exitCode, errorText } = await workingCopyAt(folder).try(args, { environment: trace })
  return { exitCode, errorText, copy: workingCopyAt(join(folder, 'clone')) }
}

async function protocols(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  for (const version of ['0', '1', '2']) {
    await t.test(`a clone with protocol version ${version} is complete`, async (t) => {
      const address = fixture.remote('ada/library')
      const { exitCode, errorText, copy } = await tryWith(t, ada, [
        '-c',
        `protocol.version=${version}`,
        'clone',
        address,
        'clone',
      ])
      t.equal(exitCode, 0, errorText)
      t.equal(/< version (\d)/.exec(errorText)?.[1] ?? '0', version)
      t.equal(await copy.git('rev-parse', 'HEAD'), await origin.git('rev-parse', 'main'))
      const count = (side: WorkingCopy) => side.git('rev-list', '--count', '--all')
      t.equal(await count(copy), await count(origin))
      t.equal(await copy.git('fsck', '--full', '--no-progress'), '')
    })
  }
}

async function kindsOfClones(t: Test, { fixture, ada }: Library): Promise<void> {
  const clone = async (t: Test, ...options: readonly string[]) => {
    const address = fixture.remote('ada/library')
    const { exitCode, errorText, copy } = await tryWith(t, ada, [
      'clone',
      ...options,
      address,
      'clone',
    ])
    t.equal(exitCode, 0, errorText)
    return copy
  }

  for (const version of ['0', '2']) {
    await t.test(`a shallow clone can be completed (version ${version})`, async (t) => {
      const copy = await clone(t, `--config=protocol.version=${version}`, '--depth=1')
      t.equal(await copy.git('rev-list', '--count', 'HEAD'), '1')
      const { exitCode } = await copy.try(['fetch', '--quiet', '--unshallow'], ada)
      t.equal(exitCode, 0)
      t.equal(await copy.git('rev-list', '--count', 'HEAD'), String(COMMITS))
    })
  }

  await t.test('a clone without blobs fetches the blobs of a checkout', async (t) => {
    const copy = await clone(t, '--filter=blob:none', '--no-checkout')
    const missing = await copy.git('rev-list', '--objects', '--all', '--missing=print')
    t.equal(missing.split('\n').filter((line) => line.startsWith('?')).length, COMMITS + 4)
    const { exitCode } = await copy.try(['checkout', '--quiet', 'main'], ada)
    t.equal(exitCode, 0)
  })

  await t.test('a mirror clone has every branch and tag', async (t) => {
    const copy = await clone(t, '--mirror')
    const refs = await copy.git('for-each-ref', '--format=%(refname)')
    t.equal(refs.split('\n').length, 1 + 2 + 2)
  })
}

async function laterFetches(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  await t.test('a later pull gets new commits', async (t) => {
    const address = fixture.remote('ada/library')
    const { copy } = await tryWith(t, ada, ['clone', '--quiet', address, 'clone'])
    const commit = await origin.commit('news')
    await origin.git('push', '--quiet', ada.remote('ada/library.git'), 'main')
    const { exitCode } = await copy.try(['pull', '--quiet', '--ff-only'], ada)
    t.equal(exitCode, 0)
    t.equal(await copy.git('rev-parse', 'HEAD'), commit)
  })
}

async function cacheHits(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  await t.test(
    'clones of an already cloned commit are answered from the cache, over SSH and HTTPS',
    async (t) => {
      const address = fixture.remote('ada/library')
      const clone = async (from: string) => {
        const { exitCode, errorText, copy } = await tryWith(t, ada, ['clone', '-q', from, 'clone'])
        t.equal(exitCode, 0, errorText)
        t.equal(await copy.git('rev-parse', 'HEAD'), await origin.git('rev-parse', 'main'))
        await untilAllCached(fixture.gatehouse.dataDir)
        return countPackCache(fixture.gatehouse, 'fetch')
      }
      const first = await clone(address)
      const second = await clone(address)
      t.same(second, { ...first, hit: first.hit + 1 })
      const third = await clone(ada.remote('ada/library.git'))
      t.same(third, { ...second, hit: second.hit + 1 }, 'a clone over HTTPS is a cache hit')
    },
  )
}

async function addresses(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  const { sshd } = fixture
  const url = `ssh://${sshd.host}:${sshd.port}`
  const forms = [`${url}/ada/library.git`, `${url}/ada/library`, `${sshd.host}:/ada/library`]
  for (const form of [...forms, `${sshd.host}:Ada/LIBRARY.git`]) {
    await t.test(`the address ${form.replace(String(sshd.port), 'PORT')} works`, async (t) => {
      const heads = await git(['ls-remote', form, 'HEAD'], { cwd: '/', ...ada })
      t.equal(heads.split('\t')[0], await origin.git('rev-parse', 'main'))
    })
  }

  await t.test('a renamed repository is found by its old name', async (t) => {
    await makeRepository(ada, 'before')
    await ada.api('PATCH', '/repos/ada/before', { name: 'after' })
    await git(['ls-remote', fixture.remote('ada/before')], { cwd: '/', ...ada })
    t.pass()
  })
}

async function organizations(t: Test, { fixture, ada }: Library): Promise<void> {
  await t.test("an organization's private repository is readable only by members", async (t) => {
    const bob = await fixture.addPerson('bob')
    await ada.api('POST', '/orgs', { username: 'guild' })
    for (const name of ['open', 'secret']) {
      await makeRepository(ada, name, { organization: 'guild', private: name === 'secret' })
      const { exitCode } = await tryWith(t, ada, ['ls-remote', fixture.remote(`guild/${name}`)])
      t.equal(exitCode, 0)
    }
    const open = await tryWith(t, bob, ['ls-remote', fixture.remote('guild/open')])
    t.equal(open.exitCode, 0, 'a user who is not a member reads a public repository')
    const secret = await tryWith(t, bob, ['ls-remote', fixture.remote('guild/secret')])
    t.match(secret.errorText, 'There is no repository guild/secret.git that this key may read.')
  })
}

async function audit(t: Test, { fixture, ada }: Library): Promise<void> {
  await t.test('each session is logged in one line with user, verb and bytes', async (t) => {
    await makeRepository(ada, 'logged', { auto_init: true })
    await tryWith(t, ada, ['clone', fixture.remote('ada/logged'), 'clone'])
    const lines = await fixture.logged({ event: 'ssh-session', repository: 'ada/logged' })
    t.equal(lines.length, 1)
    t.match(lines[0], {
      level: 'info',
      address: '127.0.0.1',
      key: ada.fingerprint,
      name: 'ada',
      verb: 'git-upload-pack',
      outcome: 'ok',
    })
    t.ok(Number(lines[0]?.['sentBytes']) > 400)
    t.ok(Number(lines[0]?.['receivedBytes']) > 100)
    t.ok(Number(lines[0]?.['seconds']) >= 0)
  })
}

async function fleets(t: Test, { fixture, ada }: Library): Promise<void> {
  await t.test(`sshd drops no login of ${CLIENTS} concurrent clients of one address`, async (t) => {
    const clients = Array.from({ length: CLIENTS }, () =>
      ada.call("git-upload-pack 'ada/library'", { input: '0000' }),
    )
    const faults = (await Promise.all(clients)).filter(({ exitCode }) => exitCode !== 0)
    t.same(faults, [])
    t.notMatch(fixture.sshd.log(), /drop connection|beginning MaxStartups/)
  })
}

async function authorizedKeys(t: Test, { fixture }: Library): Promise<void> {
  // Hosts whose sshd_config cannot be changed have such a file.
  await t.test('the keys in a written authorized_keys file are accepted', async (t) => {
    const { account, gatehouse } = fixture
    const folder = await mkdtemp('/var/lib/gatehouse-test-')
    await chmod(folder, 0o755)
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'authorized_keys')
    const sshd = await startSshd(t, {
      account,
      socket: join(gatehouse.dataDir, 'run/ssh.sock'),
      edit: (config) =>
        config
          .replace(/^ *AuthorizedKeysCommand.*$/gm, '')
          .replace('AuthorizedKeysFile none', `AuthorizedKeysFile ${file}`),
    })
    await chown(folder, account.uid, account.gid)
    const foreign = '# keys of others\nssh-ed25519 AAAA somebody\n'
    await writeFile(file, foreign)
    await chown(file, account.uid, account.gid)
    const write = () =>
      gatehouse.run('ssh', 'authorized-keys', '--write', file, '--helper', sshd.helper)
    const carl = await fixture.addPerson('carl')
    const { keyFile } = carl

    t.match((await callSsh(sshd, { keyFile })).errorText, /Permission denied/, 'no file yet')
    t.match(await write(), { exitCode: 0, output: new RegExp(`^wrote \\d+ keys to ${file}\n$`) })
    t.match((await callSsh(sshd, { keyFile })).errorText, /^Hello carl!/)
    const address = `${sshd.host}:ada/library`
    await git(['ls-remote', address], { cwd: '/', environment: sshd.environmentOf(keyFile) })

    const { body } = await carl.api('GET', '/user/keys')
    const [{ id } = { id: 0 }] = body as { id: number }[]
    await carl.api('DELETE', `/user/keys/${id}`)
    t.match(
      (await callSsh(sshd, { keyFile })).errorText,
      /does not know this key any more/,
      'before the file is written again',
    )
    await write()
    t.match((await callSsh(sshd, { keyFile })).errorText, /Permission denied/)
    t.ok((await readFile(file, 'utf8')).startsWith(foreign))
  })
}
