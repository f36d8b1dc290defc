/** Pushes over SSH: accepted and refused ones, and their log lines, sizes and webhooks. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Person } from '../helpers/gatehouse.js'
import { startReceiver } from '../helpers/receiver.js'
import { changeRepository, faultsOnDisk, makeRepository } from '../helpers/repositories.js'
import { until } from '../helpers/server-processes.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { incompressible, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const PUSH_BYTES_MAX = 2_000_000
const RECORDED_WITHIN_MS = 60_000

interface Workspace {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
  readonly copy: WorkingCopy
}

t.test('pushes over SSH', async (t) => {
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    environment: {
      GATEHOUSE_GIT_PUSH_MAX_BYTES: String(PUSH_BYTES_MAX),
      GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work')
  const copy = await newWorkingCopy(t)
  await copy.git('remote', 'add', 'origin', fixture.remote('ada/work'))
  const workspace = { fixture, ada, copy }
  await accepted(t, workspace)
  await refused(t, workspace)
  await records(t, workspace)
  await webhooks(t, workspace)
  await rules(t, workspace)
  t.same(await faultsOnDisk(fixture.gatehouse), [], 'git fsck finds nothing')
})

/** Returns the object id of a ref on the server, or an empty string. */
async function remoteRef({ copy, ada }: Workspace, ref: string): Promise<string> {
  return (await copy.git('ls-remote', ada.remote('ada/work.git'), ref)).split('\t')[0] ?? ''
}

function push({ copy, ada }: Workspace, ...words: readonly string[]) {
  return copy.try(['push', 'origin', ...words], ada)
}

async function accepted(t: Test, workspace: Workspace): Promise<void> {
  const { copy } = workspace

  await t.test('the first push creates the default branch', async (t) => {
    const commit = await copy.commit('first')
    const { exitCode, errorText } = await push(workspace, 'main')
    t.equal(exitCode, 0, errorText)
    t.match(errorText, /\[new branch\] +main -> main/)
    t.equal(await remoteRef(workspace, 'HEAD'), commit)
  })

  await t.test('a second push updates the branch, and a repeated one is up to date', async (t) => {
    const commit = await copy.commit('second')
    t.equal((await push(workspace, 'main')).exitCode, 0)
    t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
    t.match((await push(workspace, 'main')).errorText, /Everything up-to-date/)
  })

  await t.test('a forced push replaces history, a plain one does not', async (t) => {
    await copy.git('commit', '--quiet', '--amend', '-m', 'Another word')
    t.match((await push(workspace, 'main')).errorText, /non-fast-forward/)
    t.equal((await push(workspace, '--force', 'main')).exitCode, 0)
    t.equal(await remoteRef(workspace, 'refs/heads/main'), await copy.git('rev-parse', 'HEAD'))
  })

  await t.test('tags and branches are pushed and deleted', async (t) => {
    await copy.git('tag', '-a', 'release', '-m', 'Release')
    t.equal((await push(workspace, '--tags', 'main:refs/heads/side')).exitCode, 0)
    t.not(await remoteRef(workspace, 'refs/tags/release^{}'), '')
    t.equal((await push(workspace, '--delete', 'side', 'release')).exitCode, 0)
    t.equal(await remoteRef(workspace, 'refs/heads/side'), '')
  })

  await t.test('a push of one megabyte succeeds', async (t) => {
    const commit = await copy.commit('large', incompressible(1_000_000))
    const { exitCode, errorText } = await push(workspace, '--progress', 'main')
    t.equal(exitCode, 0, errorText)
    t.equal(await remoteRef(workspace, 'refs/heads/main'), commit)
  })
}

async function refused(t: Test, workspace: Workspace): Promise<void> {
  const { fixture, ada, copy } = workspace

  await t.test('refs that are neither branches nor tags are refused', async (t) => {
    for (const ref of ['refs/pull/1/head', 'refs/internal/x', 'refs/stash']) {
      const { exitCode, errorText } = await push(workspace, `main:${ref}`)
      t.not(exitCode, 0)
      t.match(errorText, /deny updating a hidden ref/)
    }
  })

  await t.test('the default branch cannot be deleted', async (t) => {
    const { exitCode, errorText } = await push(workspace, '--delete', 'main')
    t.not(exitCode, 0)
    t.match(errorText, /deletion of the current branch prohibited/)
  })

  await t.test('a push to a mirror is refused with the reason', async (t) => {
    const input = {
      clone_addr: `${fixture.gatehouse.url}/ada/work`,
      repo_name: 'mirror',
      mirror: true,
    }
    t.equal((await ada.api('POST', '/repos/migrate', input)).status, 201)
    const words = ['push', fixture.remote('ada/mirror'), 'main:other']
    const { exitCode, errorText } = await copy.try(words, ada)
    t.not(exitCode, 0)
    t.match(errorText, /Git Repository is a mirror\./)
  })

  await t.test('a push above the size limit is refused, and a smaller one succeeds', async (t) => {
    const before = await copy.git('rev-parse', 'HEAD')
    await copy.commit('too-large', incompressible(PUSH_BYTES_MAX + 100_000))
    const { exitCode, errorText } = await push(workspace, 'main')
    t.not(exitCode, 0)
    t.match(errorText, /exceeds maximum allowed size/)
    await copy.git('reset', '--quiet', '--hard', before)
    t.equal((await push(workspace, 'main:refs/heads/again')).exitCode, 0)
  })

  await t.test('a hook in the repository does not run', async (t) => {
    const [folder = ''] = await fixture.ask(async (db) => {
      const rows: readonly { storage: string }[] = await db('repositories').select('storage')
      return rows.map(({ storage }) =>
        join(fixture.gatehouse.dataDir, 'repositories', storage.slice(0, 2), `${storage}.git`),
      )
    })
    const hook = join(folder, 'hooks', 'pre-receive')
    await mkdir(dirname(hook), { recursive: true })
    await writeFile(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    await copy.commit('with-a-hook')
    t.equal((await push(workspace, 'main')).exitCode, 0)
  })

  await t.test('a push to an archived repository is refused, and a fetch succeeds', async (t) => {
    await changeRepository(ada, 'ada/work', { archived: true })
    const { exitCode, errorText } = await push(workspace, 'main:refs/heads/late')
    t.not(exitCode, 0)
    t.match(errorText, 'ada/work is archived: it can be read, not pushed to.')
    t.equal((await copy.try(['fetch', 'origin'], ada)).exitCode, 0)
    await changeRepository(ada, 'ada/work', { archived: false })
  })
}

async function records(t: Test, workspace: Workspace): Promise<void> {
  const { fixture, ada, copy } = workspace

  await t.test("a push updates the repository's size and leaves no journal entry", async (t) => {
    await makeRepository(ada, 'noted')
    await copy.commit('noted', incompressible(300_000))
    const { exitCode } = await copy.try(['push', fixture.remote('ada/noted'), 'main'], ada)
    t.equal(exitCode, 0)
    const ask = async () => (await ada.api('GET', '/repos/ada/noted')).body as { size: number }
    const { size } = await until(ask, (answer) => answer.size >= 300, RECORDED_WITHIN_MS)
    t.ok(size >= 300, 'the size is in KiB')
    const folder = join(fixture.gatehouse.dataDir, 'pushes')
    const left = await until(
      () => readdir(folder),
      (found) => found.length === 0,
      RECORDED_WITHIN_MS,
    )
    t.same(left, [])
  })

  await t.test('each push is logged in one line', async (t) => {
    await makeRepository(ada, 'logged')
    await copy.commit('logged', incompressible(100_000))
    await copy.try(['push', fixture.remote('ada/logged'), 'main'], ada)
    const lines = await fixture.logged({ event: 'ssh-session', repository: 'ada/logged' })
    t.equal(lines.length, 1)
    t.match(lines[0], { verb: 'git-receive-pack', outcome: 'ok', name: 'ada' })
    t.ok(Number(lines[0]?.['receivedBytes']) > 100_000)
  })
}

async function webhooks(t: Test, workspace: Workspace): Promise<void> {
  await t.test('a push is delivered to a webhook', async (t) => {
    const { ada, copy } = workspace
    const { url, received } = await startReceiver(t)
    const config = { url, content_type: 'json' }
    const hook = { type: 'gitea', config, events: ['push'], active: true }
    await ada.api('POST', '/repos/ada/work/hooks', hook)
    await copy.commit('told')
    const { exitCode, errorText } = await push(workspace, 'HEAD:refs/heads/told')
    t.equal(exitCode, 0, errorText)
    await until(
      async () => received.length,
      (count) => count > 0,
      RECORDED_WITHIN_MS,
    )
    const commit = await copy.git('rev-parse', 'HEAD')
    t.match(JSON.parse(String(received[0]?.body)), {
      ref: 'refs/heads/told',
      after: commit,
      pusher: { login: 'ada' },
    })
  })
}

async function rules(t: Test, workspace: Workspace): Promise<void> {
  const { fixture, ada, copy } = workspace
  const rule = async (fields: Readonly<Record<string, unknown>>) => {
    await ada.api('DELETE', '/repos/ada/work/branch_protections/ruled')
    const body = { rule_name: 'ruled', ...fields }
    t.equal((await ada.api('POST', '/repos/ada/work/branch_protections', body)).status, 201)
  }

  await t.test('a push to a protected branch is refused with the reason', async (t) => {
    await copy.commit('ruled')
    await rule({ enable_push: true })
    t.equal((await push(workspace, 'main:ruled')).exitCode, 0)
    const before = await remoteRef(workspace, 'refs/heads/ruled')
    const forced = await push(workspace, '--force', 'main~1:ruled')
    t.match(forced.errorText, /remote: Gatehouse: branch ruled is protected from force push/)
    const removed = await push(workspace, ':ruled', 'main:refs/heads/beside')
    t.match(removed.errorText, /remote: Gatehouse: branch ruled is protected from deletion/)
    t.equal(await remoteRef(workspace, 'refs/heads/ruled'), before)
    t.equal(await remoteRef(workspace, 'refs/heads/beside'), '')
  })

  await t.test('a push of a protected tag is refused unless its rule lists the user', async (t) => {
    const path = '/repos/ada/work/tag_protections'
    const listed = { whitelist_usernames: ['ada'] }
    const made = await ada.api('POST', path, { name_pattern: 'v*', ...listed })
    const { id } = made.body as { id: number }
    await ada.api('PATCH', `${path}/${id}`, { whitelist_usernames: [] })
    const refused = await push(workspace, 'main:refs/tags/v1')
    t.match(refused.errorText, /remote: Gatehouse: Tag v1 is protected/)
    t.equal(await remoteRef(workspace, 'refs/tags/v1'), '')
    t.equal((await ada.api('PATCH', `${path}/${id}`, listed)).status, 200)
    t.equal((await push(workspace, 'main:refs/tags/v1')).exitCode, 0)
  })

  await t.test('a deploy key pushes to a branch whose rule permits deploy keys', async (t) => {
    const robot = await fixture.newCaller('robot')
    const key = { title: 'robot', key: robot.publicKey, read_only: false }
    t.equal((await ada.api('POST', '/repos/ada/work/keys', key)).status, 201)
    const tip = await copy.commit('by-a-robot')
    const listed = { enable_push: true, enable_push_whitelist: true }
    await rule({ ...listed, push_whitelist_usernames: ['ada'] })
    const refused = await copy.try(['push', 'origin', 'main:ruled'], robot)
    t.match(refused.errorText, /Not allowed to push to protected branch ruled/)
    await rule({ ...listed, push_whitelist_deploy_keys: true })
    const pushed = await copy.try(['push', 'origin', 'main:ruled'], robot)
    t.equal(pushed.exitCode, 0, pushed.errorText)
    t.equal(await remoteRef(workspace, 'refs/heads/ruled'), tip)
    t.not((await push(workspace, 'main~1:ruled')).exitCode, 0, 'other users are refused')
  })
}
