/** Pruning over the API: permissions, references that keep a commit, and closed pull requests. */

import t, { type Test } from 'tap'
import { selectRows } from '../../../../sql/database/dialect.js'
import { setCollaborator } from '../../../../sql/repositories/collaborators.js'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { refusal } from '../../../helpers/gateway-with-users.js'
import { tryGit } from '../../../helpers/git-client.js'
import { type GatewayWithPull, startGatewayWithPull } from '../../../helpers/pulls.js'
import { until } from '../../../helpers/server-processes.js'

const WITHIN_MS = 60_000
const NOW = { grace: '0s' }

const has = async ({ bare }: GatewayWithPull, commit: string) =>
  (await tryGit(['cat-file', '-e', commit], { cwd: bare })).exitCode === 0

/** Waits until a commit is deleted. Returns true if it still exists. */
const untilGone = (gateway: GatewayWithPull, commit: string) =>
  until(
    () => has(gateway, commit),
    (isThere) => !isThere,
    WITHIN_MS,
  )

async function startScene(t: Test): Promise<GatewayWithPull> {
  const gateway = await startGatewayWithPull(t)
  await gateway.write('main', 'README.md')
  return gateway
}

t.test('a commit removed by a force push is deleted by pruning', async (t) => {
  const gateway = await startScene(t)
  const { of, write, copy, bare } = gateway
  const first = await copy.git('rev-parse', 'main')
  const leaked = await write('main', 'secret')
  const body = { ...NOW, commit: leaked }
  const kept = await of('ada', 'POST', '/prune', body)
  t.match(kept, {
    status: 409,
    json: refusal(`Commit ${leaked} is reachable from refs/heads/main.`),
  })
  await copy.git('push', '--quiet', '--force', bare, `${first}:refs/heads/main`)
  t.equal((await of('anyone', 'GET', `/git/commits/${leaked}`)).status, 200)
  t.match(await of('ada', 'POST', '/prune', body), { status: 202, text: '' })
  t.notOk(await untilGone(gateway, leaked))
  t.equal((await of('anyone', 'GET', `/git/commits/${leaked}`)).status, 404)
  t.equal((await of('anyone', 'GET', `/git/commits/${first}`)).status, 200)
  t.equal((await of('ada', 'POST', '/prune', body)).status, 202, 'pruning again succeeds')
})

t.test('pruning is for administrators of the repository and requires valid input', async (t) => {
  const { of, db, bob } = await startScene(t)
  const ask = async (name: 'ada' | 'bob' | 'root' | 'anyone', body: object = {}) =>
    (await of(name, 'POST', '/prune', body)).status
  t.equal(await ask('anyone'), 401)
  t.equal(await ask('bob'), 403)
  const repositoryId = (await findRepository(db, 'ada', 'r'))?.id ?? 0
  await setCollaborator(db, { repositoryId, userId: bob.id, mode: 'write' })
  t.equal(await ask('bob'), 403)
  await setCollaborator(db, { repositoryId, userId: bob.id, mode: 'admin' })
  t.equal(await ask('bob', { grace: '336h' }), 202)
  t.equal(await ask('root'), 202)
  t.equal(await ask('ada', { grace: 'soon' }), 422)
  t.equal(await ask('ada', { grace: '-1s' }), 422)
  for (const commit of ['main', 'abcdef0', '--all', 'A'.repeat(40), 'a'.repeat(64), '']) {
    t.equal(await ask('ada', { commit }), 422, commit)
  }
  t.equal(await ask('ada', { closed_pulls: true }), 422, 'the commit is missing')
  const query = "select subject from jobs where kind = 'prune-repository'"
  const jobs = await selectRows<{ subject: string }>(db, query)
  t.ok(jobs.every(({ subject }) => /^\d+(?: 1209600000ms)?$/.test(subject)))
})

t.test(
  'a pull request keeps its commits until it is closed and pruning includes closed ones',
  async (t) => {
    const gateway = await startScene(t)
    const { of, write, open, copy, bare } = gateway
    const leaked = await write('feature', 'secret')
    const { number } = (await open('feature')) as { number: number }
    const pull = `/pulls/${number}`
    await copy.git('push', '--quiet', bare, ':refs/heads/feature')
    const body = { ...NOW, commit: leaked, closed_pulls: true }
    const keeps = refusal(`Commit ${leaked} is reachable from refs/pull/${number}/head.`)
    t.match(
      await of('ada', 'POST', '/prune', body),
      { status: 409, json: keeps },
      'the pull request is open',
    )
    t.equal((await of('ada', 'PATCH', pull, { state: 'closed' })).status, 201)
    const without = { ...body, closed_pulls: false }
    t.match(await of('ada', 'POST', '/prune', without), { status: 409, json: keeps })
    t.equal((await of('anyone', 'GET', `${pull}/commits`)).status, 200)
    t.equal((await of('ada', 'POST', '/prune', body)).status, 202)
    t.notOk(await untilGone(gateway, leaked))
    t.match((await of('anyone', 'GET', pull)).json, { state: 'closed', head: { sha: leaked } })
    t.equal((await of('anyone', 'GET', '/pulls?state=all')).status, 200)
    for (const rest of ['/commits', '/files', '.diff', '.patch']) {
      t.equal((await of('anyone', 'GET', pull + rest)).status, 404, rest)
    }
    const page = (rest: string) => gateway.ask({ path: `/ada/r/pulls/${number}${rest}` })
    t.equal((await page('')).status, 200)
    for (const rest of ['/commits', '/files', '.diff', '.patch']) {
      t.equal((await page(rest)).status, 404, rest)
    }
  },
)

t.test('a tag keeps a commit, with or without a release', async (t) => {
  const gateway = await startScene(t)
  const { of, write, copy, bare } = gateway
  const first = await copy.git('rev-parse', 'main')
  const leaked = await write('main', 'secret')
  const release = await of('ada', 'POST', '/releases', { tag_name: 'v1' })
  t.equal(release.status, 201)
  await copy.git('push', '--quiet', '--force', bare, `${first}:refs/heads/main`)
  const body = { ...NOW, commit: leaked }
  const keeps = refusal(`Commit ${leaked} is reachable from refs/tags/v1.`)
  t.match(await of('ada', 'POST', '/prune', body), { status: 409, json: keeps })
  const { id } = release.json as { id: number }
  t.equal((await of('ada', 'DELETE', `/releases/${id}`)).status, 204)
  t.match(
    await of('ada', 'POST', '/prune', body),
    { status: 409, json: keeps },
    'the tag keeps the commit',
  )
  t.equal((await of('ada', 'DELETE', '/tags/v1')).status, 204)
  t.equal((await of('ada', 'POST', '/prune', body)).status, 202)
  t.notOk(await untilGone(gateway, leaked))
})
