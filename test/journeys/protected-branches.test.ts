/** Branch protections: pushes with git and attempts to bypass the rules. */

import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { onOneDatabase } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { faultsOnDisk, makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { makeKeyPair } from '../helpers/ssh-keys.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

type Fields = Readonly<Record<string, unknown>>

interface Workspace {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly bob: Person
  readonly copy: WorkingCopy
  /** URL with the credentials of bob, who has write permission. */
  readonly address: string
  readonly root: string
}

// Each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'branch protections apply to pushes', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const [ada, bob] = [await gatehouse.addUser('ada'), await gatehouse.addUser('bob')]
  await makeRepository(ada, 'r')
  await ada.api('PUT', '/repos/ada/r/collaborators/bob', { permission: 'write' })
  const copy = await newWorkingCopy(t)
  const root = await copy.commit('root')
  const address = bob.remote('ada/r.git')
  await copy.git('push', '--quiet', address, 'main', 'main:stable/1', 'main:free')
  const workspace = { gatehouse, ada, bob, copy, address, root }
  await pushes(t, workspace)
  await tags(t, workspace)
  await forced(t, workspace)
  await files(t, workspace)
  await around(t, workspace)
  await signatures(t, workspace)
  t.same(await faultsOnDisk(gatehouse), [], 'git fsck finds nothing, and no quarantine is left')
})

/** Replaces a rule by one with exactly these fields. */
async function rule({ ada }: Workspace, name: string, fields: Fields): Promise<void> {
  const path = '/repos/ada/r/branch_protections'
  await ada.api('DELETE', `${path}/${encodeURIComponent(name)}`)
  const { status, body } = await ada.api('POST', path, { rule_name: name, ...fields })
  if (status !== 201) throw new Error(`the rule was not created: ${status} ${JSON.stringify(body)}`)
}

/** Lists the refs on the server's disk, in the format of `git ls-remote`. */
async function refs({ gatehouse }: Workspace): Promise<string> {
  const [cwd = ''] = await repositoriesIn(gatehouse.dataDir)
  const format = '--format=%(objectname)%09%(refname)'
  return await git(['-c', 'safe.directory=*', 'for-each-ref', format], { cwd })
}

/** Pushes; expects a refusal with these outputs that changes no ref. */
async function refused(
  t: Test,
  workspace: Workspace,
  args: readonly string[],
  ...says: readonly RegExp[]
): Promise<void> {
  const before = await refs(workspace)
  const { exitCode, errorText } = await workspace.copy.try(['push', workspace.address, ...args])
  t.not(exitCode, 0, args.join(' '))
  for (const words of says) t.match(errorText, words)
  t.equal(await refs(workspace), before, 'no ref has changed')
}

async function pushes(t: Test, workspace: Workspace): Promise<void> {
  const { copy, address, ada } = workspace
  await rule(workspace, 'main', {})
  await rule(workspace, 'stable/*', { enable_push: true })
  const second = await copy.commit('second')

  await t.test('a push to a protected branch is refused with its name', async (t) => {
    // The owner is refused as well.
    const ofOwner = { ...workspace, address: ada.remote('ada/r.git') }
    await refused(
      t,
      ofOwner,
      ['main'],
      /remote: Gatehouse: Not allowed to push to protected branch main *\n/,
      /\[remote rejected\] main -> main \(pre-receive hook declined\)/,
    )
  })

  await t.test('the objects of a refused push are not stored', async (t) => {
    const { status } = await ada.api('GET', `/repos/ada/r/git/commits/${second}`)
    t.equal(status, 404)
  })

  await t.test('one refused branch refuses the whole push, and each one is reported', async (t) => {
    await refused(
      t,
      workspace,
      ['main:free', 'main:new', 'main', ':stable/1'],
      /branch stable\/1 is protected from deletion/,
      /protected branch main *\n/,
    )
  })

  await t.test('pushes to branches without a rule or with enable_push succeed', async (t) => {
    const branches = ['main:free', 'main:stable/1', 'main:stable/2', 'main:old']
    await copy.git('push', '--quiet', address, ...branches, `${second}:refs/tags/main`)
    await copy.git('push', '--quiet', address, ':old')
    t.match(await refs(workspace), new RegExp(`${second}\\trefs/heads/stable/2`))
  })

  await t.test('only users on the push list can push', async (t) => {
    const listed = { enable_push: true, enable_push_whitelist: true }
    await rule(workspace, 'main', { ...listed, push_whitelist_usernames: ['ada'] })
    await refused(t, workspace, ['main'], /Not allowed to push to protected branch main/)
    await copy.git('push', '--quiet', ada.remote('ada/r.git'), 'main')
    t.match(await refs(workspace), new RegExp(`${second}\\trefs/heads/main`))
  })

  await t.test('a push succeeds after the rule is deleted', async (t) => {
    await ada.api('DELETE', '/repos/ada/r/branch_protections/main')
    const third = await copy.commit('third')
    await copy.git('push', '--quiet', address, 'main')
    t.match(await refs(workspace), new RegExp(`${third}\\trefs/heads/main`))
  })
}

async function tags(t: Test, workspace: Workspace): Promise<void> {
  const { copy, ada, root, address } = workspace

  await t.test('only users that a tag rule lists can push and delete its tags', async (t) => {
    const rule = { name_pattern: 'v*', whitelist_usernames: ['ada'] }
    const made = await ada.api('POST', '/repos/ada/r/tag_protections', rule)
    t.equal(made.status, 201)
    const tag = `${root}:refs/tags/v1`
    await refused(t, workspace, ['main:free', tag], /remote: Gatehouse: Tag v1 is protected *\n/)
    await copy.git('push', '--quiet', address, `${root}:refs/tags/w1`)
    await copy.git('push', '--quiet', ada.remote('ada/r.git'), tag, `${root}:refs/tags/v2`)
    t.match(await refs(workspace), new RegExp(`${root}\trefs/tags/v1`))
    await refused(
      t,
      workspace,
      [':refs/tags/v1', '+main:refs/tags/v2'],
      /Tag v1 is protected/,
      /Tag v2 is protected/,
    )
    const { id } = made.body as { id: number }
    t.equal((await ada.api('DELETE', `/repos/ada/r/tag_protections/${id}`)).status, 204)
    await copy.git('push', '--quiet', address, ':refs/tags/v1')
  })
}

async function forced(t: Test, workspace: Workspace): Promise<void> {
  const { copy, address } = workspace

  await t.test('a force push is refused if the rule permits only pushes', async (t) => {
    await rule(workspace, 'main', { enable_push: true })
    await copy.git('commit', '--quiet', '--amend', '-m', 'Another word')
    await refused(t, workspace, ['--force', 'main'], /branch main is protected from force push/)
  })

  await t.test('only users on the force-push list can force-push', async (t) => {
    const force = { enable_push: true, enable_force_push: true, enable_force_push_allowlist: true }
    await rule(workspace, 'main', { ...force, force_push_allowlist_usernames: ['ada'] })
    await refused(
      t,
      workspace,
      ['--force', 'main'],
      /Not allowed to force-push to protected branch main/,
    )
    await rule(workspace, 'main', { ...force, force_push_allowlist_usernames: ['bob'] })
    await copy.git('push', '--quiet', '--force', address, 'main')
  })
}

async function files(t: Test, workspace: Workspace): Promise<void> {
  const { copy, address } = workspace

  await t.test('changes of protected files are refused, also in a new branch', async (t) => {
    await rule(workspace, 'stable/*', { enable_push: true, protected_file_patterns: '*.LOCK; x?' })
    await copy.commit('plain')
    await copy.git('push', '--quiet', address, 'main:stable/2')
    await copy.commit('Yarn.lock')
    await copy.git('push', '--quiet', address, 'main:elsewhere')
    await refused(
      t,
      workspace,
      ['main:stable/2', 'main:stable/3'],
      /branch stable\/2 is protected from changing file Yarn\.lock/,
      /stable\/3 is protected from changing file/,
    )
  })

  await t.test('a push of only unprotected files succeeds', async (t) => {
    await rule(workspace, 'stable/*', { unprotected_file_patterns: 'docs-*' })
    await copy.git('checkout', '--quiet', '--detach', 'main~1')
    await copy.commit('docs-a')
    await copy.git('push', '--quiet', address, 'HEAD:refs/heads/stable/2')
    await copy.commit('code')
    await refused(
      t,
      workspace,
      ['HEAD~1:refs/heads/stable/9', 'HEAD:refs/heads/stable/2'],
      /Not allowed to push to protected branch stable\/9/,
      /Not allowed to push to protected branch stable\/2/,
    )
    await copy.git('checkout', '--quiet', 'main')
  })
}

async function around(t: Test, workspace: Workspace): Promise<void> {
  const { copy, bob, address, root } = workspace
  const api = (method: string, path: string, body?: unknown) =>
    bob.api(method, `/repos/ada/r${path}`, body)
  await rule(workspace, 'main', {})
  await rule(workspace, 'stable/*', {})

  await t.test('branch names in another letter case, and HEAD, do not bypass a rule', async (t) => {
    await refused(t, workspace, ['main:refs/heads/MAIN'], /protected branch MAIN/)
    await refused(t, workspace, ['--force', `${root}:HEAD`], /HEAD|funny refname|no valid name/)
  })

  await t.test('the API applies the same rules', async (t) => {
    const before = await refs(workspace)
    const file = { content: 'eA==', branch: 'main', message: 'x' }
    const ways = [
      await api('POST', '/contents/x', file),
      await api('POST', '/contents/x', { ...file, branch: 'free', new_branch: 'stable/7' }),
      await api('POST', '/branches', { new_branch_name: 'stable/7', old_ref_name: 'free' }),
      await api('DELETE', '/branches/stable/1'),
      await api('PATCH', '/branches/free', { name: 'stable/7' }),
      await api('PATCH', '/branches/stable%2F1', { name: 'other' }),
    ]
    t.same(
      ways.map(({ status }) => status),
      [403, 403, 403, 403, 403, 403],
    )
    t.equal(await refs(workspace), before)
    const { status } = await workspace.ada.api('PATCH', '/repos/ada/r/branches/main', { name: 'm' })
    t.equal(status, 403, 'renaming a protected default branch is refused')
    t.equal(await refs(workspace), before)
  })

  await t.test('a ref name with line breaks does not hide the next ref', async (t) => {
    const before = await refs(workspace)
    const zeros = '0'.repeat(40)
    const text = await rawPush(workspace, [
      `${zeros} ${root} refs/heads/z\n${'0'.repeat(24)}\nend\nyes\n`,
      `${zeros} ${root} refs/heads/stable/8`,
    ])
    t.match(text, /Gatehouse: A reference of the push has no valid name/)
    t.match(text, /ng refs\/heads\/stable\/8 pre-receive hook declined/)
    t.equal(await refs(workspace), before)
  })

  await t.test('a push of 300 branches is refused if one of them is protected', async (t) => {
    const many = Array.from({ length: 300 }, (_, index) => `main:refs/heads/many/${index}`)
    await refused(t, workspace, [...many, 'main:stable/6'], /protected branch stable\/6/)
    await copy.git('push', '--quiet', address, ...many)
  })
}

/** Sends push commands that no git client would send, without objects; returns the reply. */
async function rawPush(
  { gatehouse, bob }: Workspace,
  commands: readonly string[],
): Promise<string> {
  const packets = commands.map((command, index) => {
    const line = index === 0 ? `${command}\0report-status side-band-64k` : command
    return (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line
  })
  // An empty pack.
  const pack = Buffer.from(
    '5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e',
    'hex',
  )
  const body = Buffer.concat([Buffer.from(`${packets.join('')}0000`), pack])
  const head = [
    'POST /ada/r.git/git-receive-pack HTTP/1.1',
    `Host: 127.0.0.1:${gatehouse.port}`,
    `Authorization: Basic ${Buffer.from(`bob:${bob.token}`).toString('base64')}`,
    'Content-Type: application/x-git-receive-pack-request',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(gatehouse.port, '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      socket.write(body)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}

async function signatures(t: Test, workspace: Workspace): Promise<void> {
  const { ada, bob, copy, address } = workspace
  const keys = await temporaryFolder(t)
  const key = await makeKeyPair(keys, 'bob', '-t', 'ed25519')
  await bob.api('POST', '/user/keys', { title: 'signing', key })
  const email = ((await bob.api('GET', '/user')).body as { email: string }).email
  const environment = { GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_NAME: 'Bob' }
  const commit = async (sign: '--gpg-sign' | '--no-gpg-sign') => {
    const options = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${keys}/bob`]
    const args = [...options, 'commit', '--quiet', '--allow-empty', '-m', sign, sign]
    t.equal((await copy.try(args, { environment })).exitCode, 0)
    return await copy.git('rev-parse', 'HEAD')
  }
  await rule(workspace, 'signed', { enable_push: true, require_signed_commits: true })

  await t.test('a branch that requires signatures takes only verified commits', async (t) => {
    await copy.git('push', '--quiet', address, 'HEAD:free', 'HEAD:signed')
    const unsigned = await commit('--no-gpg-sign')
    await commit('--gpg-sign')
    const says = new RegExp(`branch signed is protected from unverified commit ${unsigned}`)
    await refused(t, workspace, ['HEAD:signed'], says)
    await copy.git('reset', '--quiet', '--hard', 'HEAD~2')
    await commit('--gpg-sign')
    await copy.git('push', '--quiet', address, 'HEAD:signed')
  })

  await t.test('merges and the API add no commits without a signature to it', async (t) => {
    await commit('--gpg-sign')
    await copy.git('push', '--quiet', address, 'HEAD:work')
    const file = { content: '', branch: 'signed', message: 'm' }
    const written = await bob.api('POST', '/repos/ada/r/contents/signed.txt', file)
    t.equal(written.status, 403)
    const pull = { base: 'signed', head: 'work', title: 'Work' }
    const { number } = (await bob.api('POST', '/repos/ada/r/pulls', pull)).body as {
      number: number
    }
    const merge = (Do: string) =>
      ada.api('POST', `/repos/ada/r/pulls/${number}/merge`, { Do, force_merge: true })
    const refusal = await merge('merge')
    t.equal(refusal.status, 405)
    t.match(JSON.stringify(refusal.body), 'protected from unverified commit')
    t.equal((await merge('fast-forward-only')).status, 200)
  })
}
