/** Pull requests from a fork: opened, updated, hidden, merged. */

import { existsSync } from 'node:fs'
import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { visible } from '../../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../../helpers/git-client.js'
import {
  addPullRepository,
  type Fields,
  type GatewayWithPull,
  startGatewayWithPull,
} from '../../../helpers/pulls.js'
import { until } from '../../../helpers/server-processes.js'
import { sharedGateways } from '../../../helpers/shared-gateways.js'
import { incompressible } from '../../../helpers/working-copy.js'

const gateways = sharedGateways(t)

const NO_REPOSITORY = { repo: null, repo_id: -1, ref: 'refs/pull/1/head', label: 'topic' }

/** Creates a fork of `ada/r` and functions that write to it. */
async function forkOf(gateway: GatewayWithPull, name: 'bob' | 'root' = 'bob') {
  const { as, pathOf, writeTo } = gateway
  await as(name, 'POST', '/repos/ada/r/forks', {})
  const path = await pathOf(name, 'r')
  return {
    path,
    /** Commits a file to a branch of the fork, on top of main or of another commit. */
    write: (branch: string, file: string, parent?: string) =>
      writeTo(path, branch, { file, content: `${file} on ${branch}\n`, parent }),
  }
}

async function isIn(bare: string, id: string): Promise<boolean> {
  return (await tryGit(['cat-file', '-e', id], { cwd: bare })).exitCode === 0
}

const WAIT_MS = 30_000

const TOPIC = { title: 'Topic', head: 'bob:topic', base: 'main' }

await onOneDatabase(
  t,
  'a pull request from a fork is opened and follows its head',
  async (t, location) => {
    const gateway = await startGatewayWithPull(t, { location })
    const { of, as, bare, copy } = gateway
    const fork = await forkOf(gateway)
    const first = await fork.write('topic', 'a')
    const opened = await of('bob', 'POST', '/pulls', TOPIC)
    const head = { label: 'topic', ref: 'topic', sha: first, repo: { full_name: 'bob/r' } }
    t.match(opened, { status: 201, json: { head, mergeable: true, changed_files: 1 } })
    t.equal((opened.json as { head: Fields }).head['repo_id'], 2)
    const kept = () => git(['rev-parse', 'refs/pull/1/head'], { cwd: bare })
    t.equal(await kept(), first)
    t.notOk(existsSync(`${bare}/objects/info/alternates`))
    for (const name of ['bob:topic', 'BOB:topic', 'bob/r:topic', 'Bob%2FR:topic']) {
      t.match((await of('anyone', 'GET', `/pulls/main/${name}`)).json, { number: 1 }, name)
      const { json } = await of('anyone', 'GET', `/compare/main...${name}`)
      t.match(json, { total_commits: 1, commits: [{ sha: first }] }, name)
    }
    t.equal((await of('bob', 'POST', '/pulls', { ...TOPIC, head: 'bob/r:topic' })).status, 409)
    const second = await fork.write('topic', 'b', first)
    t.match((await of('anyone', 'GET', '/pulls')).json, [{ head: { sha: second } }])
    t.equal(await kept(), second)
    const forced = await fork.write('topic', 'c')
    t.match((await of('anyone', 'GET', '/pulls/1')).json, { head: { sha: forced } })
    t.equal(await kept(), forced)
    await copy.git('push', '--quiet', fork.path, ':refs/heads/topic')
    const gone = { sha: forced, ref: 'refs/pull/1/head', repo: { full_name: 'bob/r' } }
    t.match((await of('anyone', 'GET', '/pulls/1')).json, { head: gone })
    t.equal((await as('bob', 'DELETE', '/repos/bob/r')).status, 204)
    t.match((await of('anyone', 'GET', '/pulls/1')).json, {
      head: { ...NO_REPOSITORY, sha: forced },
    })
    t.match((await of('anyone', 'GET', '/pulls/1.diff')).text, /c on topic/)
    t.equal((await of('ada', 'POST', '/pulls/1/merge', {})).status, 200)
    await git(['fsck', '--strict', '--connectivity-only'], { cwd: bare })
  },
)

await onOneDatabase(
  t,
  'a head repository that the caller cannot read is reported as missing',
  async (t, location) => {
    const gateway = await startGatewayWithPull(t, { location })
    const { of, as, copy, pathOf } = gateway
    const fork = await forkOf(gateway)
    const tip = await fork.write('topic', 'a')
    await as('bob', 'POST', '/user/repos', { name: 'other' })
    await copy.git('push', '--quiet', await pathOf('bob', 'other'), `${tip}:refs/heads/topic`)
    await as('bob', 'PATCH', '/repos/bob/r', { private: true })
    const open = (head: string) => of('ada', 'POST', '/pulls', { ...TOPIC, head })
    const compare = (head: string) => of('ada', 'GET', `/compare/main...${head}`)
    const found = (head: string) => of('ada', 'GET', `/pulls/main/${head}`)
    for (const ask of [open, compare, found]) {
      const missing = visible(await ask('nobody:topic'))
      t.equal(missing.status, 404)
      for (const head of ['bob:topic', 'bob/r:topic', 'bob/other:topic', 'bob/none:topic']) {
        t.strictSame(visible(await ask(head)), missing, head)
      }
    }
    t.match((await of('bob', 'POST', '/pulls', TOPIC)).json, { head: { repo: { private: true } } })
    for (const name of ['ada', 'anyone'] as const) {
      const seen = (await of(name, 'GET', '/pulls/1')).json as { head: Fields }
      t.match(seen.head, { ...NO_REPOSITORY, sha: tip }, name)
      t.notMatch(JSON.stringify(seen.head), /bob/)
      t.match((await of(name, 'GET', '/pulls')).json, [{ head: NO_REPOSITORY }], name)
    }
    t.equal((await found('bob:topic')).status, 404)
    const next = await fork.write('topic', 'b', tip)
    t.match(
      (await of('ada', 'GET', '/pulls/1')).json,
      { head: { sha: next } },
      'its author reads it',
    )
    await as('root', 'POST', '/repos/bob/r/transfer', { new_owner: 'root' })
    t.equal((await as('bob', 'GET', '/repos/root/r')).status, 404)
    const secret = await fork.write('topic', 'c', next)
    t.match((await of('bob', 'GET', '/pulls/1')).json, { head: { ...NO_REPOSITORY, sha: next } })
    t.equal(await isIn(gateway.bare, secret), false, 'the commit was not copied')
  },
)

await gateways.onSqlite(
  'malformed and missing heads are refused, and a head of the same repository is accepted',
  async (t, shared) => {
    const gateway = await addPullRepository(t, shared)
    const { of, as } = gateway
    const fork = await forkOf(gateway)
    const tip = await fork.write('topic', 'a')
    await gateway.copy.git('push', '--quiet', fork.path, `${tip}:refs/tags/v1`)
    const status = async (head: string) =>
      (await of('bob', 'POST', '/pulls', { ...TOPIC, head })).status
    for (const head of [
      'bob:',
      ':topic',
      'bob:absent',
      'bob:-h',
      'bob:--upload-pack=id',
      'bob:topic:x',
      'bob:a b',
      'bob/r/x:topic',
      '../r:topic',
      'bob:../topic',
      'bob:topic^{}',
      'bob:refs/heads/../x',
    ]) {
      t.equal(await status(head), 404, head)
    }
    t.equal(await status('bob:v1'), 422)
    t.equal(await status(`bob:${tip}`), 422)
    const back = { title: 'Back', head: 'ada:main', base: 'topic' }
    t.match((await as('bob', 'POST', '/repos/bob/r/pulls', back)).json, {
      head: { repo: { full_name: 'ada/r' } },
    })
    const sibling = await forkOf(gateway, 'root')
    await sibling.write('side', 'b')
    const side = { title: 'Side', head: 'root:side', base: 'main' }
    t.match((await as('bob', 'POST', '/repos/bob/r/pulls', side)).json, {
      head: { repo: { full_name: 'root/r' } },
    })
    const odd = '--exec=touch$IFSran;\'"`id`'
    await fork.write(odd, 'c')
    t.match((await of('bob', 'POST', '/pulls', { ...TOPIC, head: `bob:${odd}` })).json, {
      head: { ref: odd },
    })
  },
)

await t.test('a head that exceeds the size limit is refused', async (t) => {
  const environment = { GATEHOUSE_GIT_PUSH_MAX_BYTES: '64KiB' }
  const gateway = await startGatewayWithPull(t, { environment })
  const { of, copy, bare, lines } = gateway
  const fork = await forkOf(gateway)
  const small = await fork.write('topic', 'a')
  await copy.git('checkout', '--quiet', '--detach', small)
  const large = await copy.commit('large', incompressible(200_000))
  const take = (tip: string) =>
    copy.git('push', '--quiet', '--force', fork.path, `${tip}:refs/heads/topic`)
  await take(large)
  t.equal((await of('bob', 'POST', '/pulls', TOPIC)).status, 413)
  t.match((await of('bob', 'GET', '/pulls')).json, [])
  await take(small)
  t.equal((await of('bob', 'POST', '/pulls', TOPIC)).status, 201)
  await take(large)
  for (const _ of [1, 2]) {
    t.match((await of('bob', 'GET', '/pulls/1')).json, { head: { sha: small } })
  }
  t.equal(lines.filter(({ msg }) => msg === 'a pull request cannot follow its head').length, 1)
  t.equal(await isIn(bare, large), false)
  const merge = { Do: 'merge', head_commit_id: large }
  t.equal((await of('ada', 'POST', '/pulls/1/merge', merge)).status, 409)
})

await gateways.onSqlite(
  'a pull request from a fork is merged, and its branch is deleted if the merger may write there',
  async (t, shared) => {
    const gateway = await addPullRepository(t, shared)
    const { of, as, bare, write } = gateway
    const fork = await forkOf(gateway)
    const tips = new Map<string, string>()
    for (const name of ['one', 'two', 'three']) tips.set(name, await fork.write(name, name))
    for (const name of ['one', 'two', 'three']) {
      const sent = { ...TOPIC, head: `bob:${name}`, allow_maintainer_edit: true }
      const { json } = await of('bob', 'POST', '/pulls', sent)
      t.match(
        json,
        { allow_maintainer_edit: false },
        'the permission of maintainers is not granted',
      )
    }
    const merge = (number: number, body: Fields = {}) =>
      of('ada', 'POST', `/pulls/${number}/merge`, { delete_branch_after_merge: true, ...body })
    const judged = { head_commit_id: tips.get('one') }
    const later = await fork.write('one', 'later', tips.get('one'))
    t.equal((await merge(1, judged)).status, 409, 'another head commit was checked')
    t.equal((await merge(1, { head_commit_id: later })).status, 200)
    const branches = () => git(['for-each-ref', '--format=%(refname:short)'], { cwd: fork.path })
    t.match(await branches(), /^one$/m, 'ada may not write there')
    t.equal(
      await git(['log', '-1', '--format=%s', 'main'], { cwd: bare }),
      "Merge pull request 'Topic' (#1) from bob/r:one into main",
    )
    await as('bob', 'PUT', '/repos/bob/r/collaborators/ada', { permission: 'write' })
    t.equal((await merge(2)).status, 200)
    t.notMatch(await branches(), /^two$/m)
    await as('bob', 'DELETE', '/repos/bob/r/collaborators/ada')
    await write('main', 'more')
    const update = (name: 'ada' | 'bob') => of(name, 'POST', '/pulls/3/update')
    t.equal((await update('ada')).status, 403)
    t.equal((await update('bob')).status, 200)
    const updated = await git(['rev-parse', 'three'], { cwd: fork.path })
    t.match((await of('ada', 'GET', '/pulls/3')).json, { head: { sha: updated }, mergeable: true })
    for (const cwd of [bare, fork.path]) await git(['fsck', '--strict'], { cwd })
  },
)

await gateways.onSqlite(
  'the merged commit is the checked one, also with concurrent pushes',
  async (t, shared) => {
    const gateway = await addPullRepository(t, shared)
    const { of, bare, copy } = gateway
    const fork = await forkOf(gateway)
    const judged = await fork.write('topic', 'a')
    await of('bob', 'POST', '/pulls', TOPIC)
    const body = { Do: 'merge', head_commit_id: judged, delete_branch_after_merge: true }
    const next = await fork.write('next', 'b', judged)
    const push = () => copy.git('push', '--quiet', fork.path, `${next}:refs/heads/topic`)
    const [answer] = await Promise.all([
      of('root', 'POST', '/pulls/1/merge', body),
      // Git refuses a push whose branch is deleted concurrently; the client then pushes again.
      push().catch(push),
    ])
    const isMerged = answer.status === 200
    t.ok(isMerged || answer.status === 409, answer.text)
    const parents = await git(['log', '-1', '--format=%P', 'main'], { cwd: bare })
    t.equal(parents.split(' ')[1], isMerged ? judged : undefined)
    t.equal(await git(['rev-parse', 'topic'], { cwd: fork.path }), next, 'no pushed commit is lost')
  },
)

await gateways.onSqlite(
  'a push to the fork over HTTPS updates the pull request',
  async (t, shared) => {
    const gateway = await addPullRepository(t, shared)
    const { of, as, bare, copy, port, authorizationOf } = gateway
    const fork = await forkOf(gateway)
    const tip = await fork.write('topic', 'a')
    await of('bob', 'POST', '/pulls', TOPIC)
    const kept = () => git(['rev-parse', 'refs/pull/1/head'], { cwd: bare })
    await copy.git('checkout', '--quiet', '--detach', tip)
    const next = await copy.commit('b')
    const header = `http.extraHeader=Authorization: ${authorizationOf('bob')}`
    const address = `http://127.0.0.1:${port}/bob/r.git`
    await copy.git('-c', header, 'push', '--quiet', address, `${next}:refs/heads/topic`)
    t.equal(await until(kept, (head) => head === next, WAIT_MS), next)
    const file = { branch: 'topic', content: Buffer.from('x').toString('base64'), message: 'm' }
    const made = await as('bob', 'POST', '/repos/bob/r/contents/c', file)
    const { sha } = (made.json as { commit: { sha: string } }).commit
    t.equal(
      await until(kept, (head) => head === sha, WAIT_MS),
      sha,
      'a file written over the API does too',
    )
  },
)
